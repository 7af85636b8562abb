"""Agreement of two judges on tables of 2 x 2, computed a second time: prints agreement.json.

Cohen's kappa as scikit-learn's cohen_kappa_score computes it, from the confusion matrix and the expected one; its standard
error as statsmodels' cohens_kappa does (Fleiss, Cohen and Everitt 1969); Wilson's interval as the roots of its quadratic
equation. Needs Python 3 without packages, and shares no code with the service.
"""

import json
import math
import random
from fractions import Fraction

Z = 1.959963984540054


def kappa(table):
    n = sum(map(sum, table))
    rows = [sum(row) for row in table]
    columns = [sum(column) for column in zip(*table)]
    disagreed = sum(table[i][j] for i in range(2) for j in range(2) if i != j)
    expected = sum(Fraction(rows[i] * columns[j], n) for i in range(2) for j in range(2) if i != j)
    return None if expected == 0 else 1 - disagreed / expected


def kappa_interval(table):
    k = kappa(table)
    if k is None:
        return None
    n = sum(map(sum, table))
    shares = [[Fraction(count, n) for count in row] for row in table]
    rows = [sum(row) for row in shares]
    columns = [sum(column) for column in zip(*shares)]
    chance = sum(row * column for row, column in zip(rows, columns))
    a = sum(shares[i][i] * (1 - (rows[i] + columns[i]) * (1 - k)) ** 2 for i in range(2))
    b = (1 - k) ** 2 * sum(
        shares[i][j] * (columns[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j
    )
    c = (k - chance * (1 - k)) ** 2
    error = math.sqrt(max(0, (a + b - c) / (1 - chance) ** 2 / n))
    return [max(-1.0, float(k) - Z * error), min(1.0, float(k) + Z * error)]


def wilson(count, n):
    if n == 0:
        return None
    # (p - share)^2 = z^2 p (1 - p) / n, solved for p
    share = count / n
    a, b, c = 1 + Z * Z / n, -(2 * share + Z * Z / n), share * share
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
    return [0.0 if count == 0 else low, 1.0 if count == n else high]


def share(count, n):
    return None if n == 0 else count / n


def vector(both_pass, both_fail, false_pass, false_fail):
    # rows: what the judge says; columns: what the person says
    table = [[both_pass, false_pass], [false_fail, both_fail]]
    n = sum(map(sum, table))
    passed, failed = both_pass + false_pass, both_fail + false_fail
    found = kappa(table) if n > 0 else None
    return {
        "n": n,
        "cells": {
            "both_pass": both_pass,
            "both_fail": both_fail,
            "false_pass": false_pass,
            "false_fail": false_fail,
        },
        "agreement": share(both_pass + both_fail, n),
        "kappa": None if found is None else float(found),
        "kappa_ci95": None if n == 0 else kappa_interval(table),
        "false_pass_rate": share(false_pass, passed),
        "false_pass_rate_ci95": wilson(false_pass, passed),
        "false_fail_rate": share(false_fail, failed),
        "false_fail_rate_ci95": wilson(false_fail, failed),
        "base_rate": share(both_pass + false_fail, n),
    }


# nobody, one verdict alone, one output, chance, the opposite, the same
EDGES = [
    (0, 0, 0, 0), (7, 0, 0, 0), (0, 5, 0, 0), (0, 0, 1, 0), (0, 0, 0, 3),
    (25, 25, 25, 25), (0, 0, 10, 10), (10, 10, 0, 0), (9, 0, 1, 0), (9, 0, 0, 1),
]
source = random.Random(1969)
tables = EDGES + [tuple(source.randrange(0, 10 ** source.randrange(1, 5)) for _ in range(4)) for _ in range(40)]
print("[\n" + ",\n".join(json.dumps(vector(*table)) for table in tables) + "\n]")
