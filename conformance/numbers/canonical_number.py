"""The canonical text of JSON numbers, independent of the TypeScript implementation.

Reads one literal per line from standard input and writes its canonical text, or `number_too_long`, per line. The rule is
in docs/jsonl-v23.md: the ECMAScript form of the nearest double if it has exactly the value of the literal, otherwise the
value as a plain decimal of at most 1,000 digits.
"""

import sys
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

EXACT = Context(prec=4000, Emax=MAX_EMAX, Emin=MIN_EMIN)
MAX_DIGITS = 1000


def ecmascript(number: float) -> str:
    """ECMA-262 Number::toString, radix 10. Python's repr gives the same shortest digits in another layout."""
    sign, digits, exponent = Decimal(repr(number)).normalize(EXACT).as_tuple()
    text = "".join(map(str, digits))
    k, n = len(text), len(text) + exponent
    if k <= n <= 21:
        body = text + "0" * (n - k)
    elif 0 < n <= 21:
        body = f"{text[:n]}.{text[n:]}"
    elif -6 < n <= 0:
        body = "0." + "0" * -n + text
    else:
        mantissa = text if k == 1 else f"{text[0]}.{text[1:]}"
        body = f"{mantissa}e{n - 1:+d}"
    return "-" * sign + body


def plain(value: Decimal) -> str:
    sign, digits, exponent = value.normalize(EXACT).as_tuple()
    text = "".join(map(str, digits))
    n = len(text) + exponent
    length = 1 - n + len(text) if n <= 0 else max(n, len(text))
    if length > MAX_DIGITS:
        return "number_too_long"
    if n <= 0:
        body = "0." + "0" * -n + text
    elif n >= len(text):
        body = text + "0" * (n - len(text))
    else:
        body = f"{text[:n]}.{text[n:]}"
    return "-" * sign + body


def canonical(literal: str) -> str:
    value = EXACT.create_decimal(literal)
    if value == 0:
        return "0"
    nearest = float(literal)
    if nearest not in (0.0, float("inf"), float("-inf")) and Decimal(repr(nearest)) == value:
        return ecmascript(nearest)
    return plain(value)


for line in sys.stdin:
    print(canonical(line.strip()))
