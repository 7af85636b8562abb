"""Computes the scores of runs from their results, independently of the service: see README.md."""

import json
import math
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from statistics import stdev


def mean_of(values):
    return math.fsum(values) / len(values) if values else None


def interval(mean, stderr):
    return None if mean is None or stderr is None else [mean - 1.96 * stderr, mean + 1.96 * stderr]


def pass_k(items, k, passes):
    """The share of all choices of k tries that pass by any or all of them, counted one by one; the mean over items."""
    shares = []
    for tries in items:
        if len(tries) >= k:
            chosen = [passes(choice) for choice in combinations(tries, k)]
            shares.append(Fraction(sum(chosen), len(chosen)))
    return float(sum(shares) / len(shares)) if shares else None


def scores(results, repetitions):
    scored = [r["score"] for r in results if r["score"] is not None]
    by_item = defaultdict(list)
    tries = defaultdict(list)
    for r in results:
        place = (r["section"], r["order_index"])
        if r["score"] is not None:
            by_item[place].append(r["score"])
        if r["status"] != "unscored":
            tries[place].append(r["passed"] is True)
    means = [mean_of(values) for values in by_item.values()]
    mean = mean_of(scored)
    stderr = stdev(means) / math.sqrt(len(means)) if len(means) >= 2 else None
    passed = sum(r["passed"] is True for r in results)
    due = sum(r["status"] != "unscored" for r in results)
    at_k = {str(k): pass_k(tries.values(), k, any) for k in range(1, repetitions + 1)}
    hat_k = {str(k): pass_k(tries.values(), k, all) for k in range(1, repetitions + 1)}
    return {
        "mean": mean,
        "stderr": stderr,
        "ci95": interval(mean, stderr),
        "passed": passed,
        "pass_rate": passed / due if due else None,
        "pass_rate_scored": passed / len(scored) if scored else None,
        "pass_at_k": {k: value for k, value in at_k.items() if value is not None},
        "pass_hat_k": {k: value for k, value in hat_k.items() if value is not None},
        "results": len(results),
        **{status: sum(r["status"] == status for r in results) for status in ("ok", "failed", "unscored")},
    }


def nearest_rank(values, percent):
    ordered = sorted(values)
    return ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1] if ordered else None


def count(usages, *names):
    return sum(next((u[n] for n in names if n in u), 0) for u in usages if u is not None)


def amount(price, input_tokens, output_tokens):
    return Fraction(0) if price is None else (
        Fraction(str(price["input_per_million"])) * input_tokens + Fraction(str(price["output_per_million"])) * output_tokens
    )


def summary(results, repetitions, price, judge_price):
    sections = sorted({r["section"] for r in results})
    latencies = [r["latency_ms"] for r in results if r["latency_ms"] is not None]
    usages = [r["usage"] for r in results]
    judged = [r["judge_usage"] for r in results]
    reasons = defaultdict(int)
    for r in results:
        if r["finish_reason"] is not None:
            reasons[r["finish_reason"]] += 1
    used = {
        "input_tokens": count(usages, "prompt_tokens", "input_tokens"),
        "output_tokens": count(usages, "completion_tokens", "output_tokens"),
        "judge_input_tokens": count(judged, "prompt_tokens", "input_tokens"),
        "judge_output_tokens": count(judged, "completion_tokens", "output_tokens"),
    }
    by_section = {name: scores([r for r in results if r["section"] == name], repetitions) for name in sections}
    cost = None
    if price is not None or judge_price is not None:
        model = amount(price, used["input_tokens"], used["output_tokens"])
        judge = amount(judge_price, used["judge_input_tokens"], used["judge_output_tokens"])
        cost = {"amount": float((model + judge) / 10**6), "currency": (price or judge_price)["currency"]}
    return {
        "scores": {**scores(results, repetitions), "by_section": by_section},
        "usage": used,
        "cost": cost,
        "latency_ms": {f"p{p}": nearest_rank(latencies, p) for p in (50, 90, 99)},
        "finish_reasons": dict(reasons),
        "truncated": sum(r["finish_reason"] == "length" for r in results),
    }


def scored_items(results):
    """Item hash and occurrence -> mean score and whether more than half passed."""
    items = defaultdict(list)
    for r in results:
        if r["score"] is not None:
            items[(r["item_hash"], r["section"], r["order_index"])].append(r)
    seen = defaultdict(int)
    found = {}
    for (item_hash, _, _), group in items.items():
        key = (item_hash, seen[item_hash])
        seen[item_hash] += 1
        passed = sum(r["passed"] is True for r in group)
        found[key] = (mean_of([r["score"] for r in group]), 2 * passed > len(group))
    return found


def mcnemar(b, c):
    """Two-sided exact binomial test with chance 1/2, in whole numbers."""
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def comparison(results, other):
    first, second = scored_items(results), scored_items(other)
    keys = [key for key in first if key in second]
    differences = [second[key][0] - first[key][0] for key in keys]
    mean = mean_of(differences)
    stderr = stdev(differences) / math.sqrt(len(keys)) if len(keys) >= 2 else None
    return {
        "paired": len(keys),
        "mean": mean_of([first[key][0] for key in keys]),
        "other_mean": mean_of([second[key][0] for key in keys]),
        "mean_difference": mean,
        "stderr": stderr,
        "ci95": interval(mean, stderr),
        "wins": sum(d > 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "p_value": mcnemar(
            sum(first[key][1] and not second[key][1] for key in keys),
            sum(second[key][1] and not first[key][1] for key in keys),
        ),
    }


request = json.load(sys.stdin)
answer = {}
if "results" in request:
    prices = [request.get("price"), request.get("judge_price")]
    answer = summary(request["results"], request["repetitions"], *prices)
if "other" in request:
    answer["comparison"] = comparison(request["results"], request["other"])
if "mcnemar" in request:
    answer["mcnemar"] = [mcnemar(b, c) for b, c in request["mcnemar"]]
json.dump(answer, sys.stdout)
