"""From text to vectors: one model, run by torch in bulk and by ONNX for queries."""
