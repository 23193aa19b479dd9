"""Small numbers in words, as notes and answers write them: ``three`` is 3. Pure.

Folded, from two on: a *one* is an article or a pronoun more often than a number.
"""

from __future__ import annotations

_TABLE = {
    2: "two zwei deux dos due dois duas twee tva два две",
    3: "three drei trois tres tre três drie три",
    4: "four vier quatre cuatro quattro quatro fyra четыре",
    5: "five funf cinq cinco cinque vijf fem пять",
    6: "six sechs seis sei zes sex шесть",
    7: "seven sieben sept siete sette zeven sju семь",
    8: "eight acht huit ocho otto oito atta восемь",
    9: "nine neun neuf nueve nove negen nio девять",
    10: "ten zehn dix diez dieci dez tien tio десять",
    11: "eleven elf onze once undici elva одиннадцать",
    12: "twelve zwolf douze doce dodici twaalf tolv двенадцать",
    13: "thirteen dreizehn treize trece tredici treze dertien tretton",
    14: "fourteen vierzehn quatorze catorce quattordici veertien fjorton",
    15: "fifteen funfzehn quinze quince quindici vijftien femton",
    16: "sixteen sechzehn seize dieciseis sedici zestien sexton",
    17: "seventeen siebzehn diecisiete diciassette zeventien sjutton",
    18: "eighteen achtzehn dieciocho diciotto achttien arton",
    19: "nineteen neunzehn diecinueve diciannove negentien nitton",
    20: "twenty zwanzig vingt veinte venti vinte twintig tjugo двадцать",
    30: "thirty dreissig trente treinta trenta trinta dertig trettio тридцать",
    40: "forty vierzig quarante cuarenta quaranta quarenta veertig fyrtio сорок",
    50: "fifty funfzig cinquante cincuenta cinquanta cinquenta vijftig femtio",
    60: "sixty sechzig soixante sesenta sessanta sessenta zestig sextio",
    70: "seventy siebzig setenta settanta zeventig sjuttio",
    80: "eighty achtzig ochenta ottanta oitenta tachtig attio",
    90: "ninety neunzig noventa novanta negentig nittio",
    100: "hundred hundert cent cien cento cem honderd hundra сто",
}
_NOT_NUMBERS = frozenset(
    ("once", "sei", "sex", "sept", "due", "elf", "acht", "cent", "dos", "nove")
)
"""Words that mean something else in another of the languages, or as often."""

NUMBER_WORDS = {
    word: value
    for value, words in _TABLE.items()
    for word in words.split()
    if word not in _NOT_NUMBERS
}
"""Folded word -> its number."""

ORDINAL_WORDS = {
    word: value
    for value, words in {
        2: "twice zweimal zweite zweiten deuxieme secondo tweede andra",
        3: "third thirds thrice dreimal dritte dritten troisieme tercero tercera terzo terza derde",
        4: "fourth vierte vierten quatrieme cuarto cuarta quarto quarta vierde fjarde",
        5: "fifth fifths funfte funften cinquieme quinto quinta vijfde femte",
        6: "sixth sechste sechsten sixieme sexto sexta sesto sesta zesde sjatte",
        7: "seventh siebte siebten septieme septimo settimo setimo zevende sjunde",
        8: "eighth achte achten huitieme octavo ottavo oitavo achtste attonde",
        9: "ninth neunte neunten neuvieme noveno nono negende nionde",
        10: "tenth zehnte zehnten dixieme decimo tiende tionde",
    }.items()
    for word in words.split()
}
"""The same for places and parts; ``second`` is as often a part of a minute."""
