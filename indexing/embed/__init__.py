"""From text to vectors: one model behind two doors, torch in bulk and ONNX for queries."""
