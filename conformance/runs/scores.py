"""Computes the scores of runs from their results, independently of the service: see README.md."""

import json
import math
import sys
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations
from statistics import NormalDist


def mean_of(values):
    return math.fsum(values) / len(values) if values else None


def simpson(f, low, high, steps):
    """The integral of f, by Simpson's rule."""
    width = (high - low) / steps
    inner = math.fsum((4 if i % 2 else 2) * f(low + i * width) for i in range(1, steps))
    return (f(low) + inner + f(high)) * width / 3


@cache
def student_t(freedom):
    """The 97.5 % quantile: the root of the integral of the density, with t = sqrt(freedom) tan(angle)."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if scale * simpson(lambda a: math.cos(a) ** (freedom - 1), 0, middle, 2000) < 0.475:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


Z = NormalDist().inv_cdf(0.975)


def wilson(share, n):
    center = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return [max(0.0, center - half), min(1.0, center + half)]


def clustered_error(values, clusters):
    """The standard error of the mean of values, clustered; None for one cluster. And the number of clusters."""
    sums = defaultdict(float)
    mean = mean_of(values)
    for value, cluster in zip(values, clusters):
        sums[cluster] += value - mean
    count = len(sums)
    if count < 2:
        return None, count
    return math.sqrt(count / (count - 1) * math.fsum(d * d for d in sums.values())) / len(values), count


def t_interval(mean, stderr, clusters, low):
    if stderr is None:
        return None
    half = student_t(clusters - 1) * stderr if stderr else 0
    return [max(low, mean - half), min(1.0, mean + half)]


def share_interval(share, results, values, clusters):
    """Wilson's interval of a share of results; `values` are 1 for each that counts and 0 for the others, in their clusters."""
    if not results:
        return None
    stderr, count = clustered_error(values, clusters)
    if count == results:
        return wilson(share, results)
    if not stderr or share in (0, 1):
        return wilson(share, max(1, count))
    return wilson(share, min(results, share * (1 - share) / stderr**2))


def pass_k(items, k, passes):
    """The share of all choices of k tries that pass by any or all of them, counted one by one; the mean over items."""
    shares = []
    for tries in items:
        if len(tries) >= k:
            chosen = [passes(choice) for choice in combinations(tries, k)]
            shares.append(Fraction(sum(chosen), len(chosen)))
    return float(sum(shares) / len(shares)) if shares else None


def scores(results, repetitions, cluster_of=None):
    """`cluster_of` names the cluster of each item, by its place."""
    scored = [r["score"] for r in results if r["score"] is not None]
    by_item, due, passes = defaultdict(list), defaultdict(list), defaultdict(list)
    for r in results:
        place = (r["section"], r["order_index"])
        if r["score"] is not None:
            by_item[place].append(r["score"])
            passes[place].append(r["passed"] is True)
        if r["status"] != "unscored":
            due[place].append(r["passed"] is True)

    def values_of(items):
        """The values of all results of items, and the cluster of each: its item, or that of its item."""
        pairs = [(value, place) for place, values in items.items() for value in values]
        places = [place for _, place in pairs]
        return [value for value, _ in pairs], [place if cluster_of is None else cluster_of[place] for place in places]

    def share(items):
        values, clusters = values_of(items)
        rate = mean_of(values)
        return rate, share_interval(rate, len(values), values, clusters)

    mean = mean_of(scored)
    values, clusters = values_of(by_item)
    stderr, count = clustered_error(values, clusters) if values else (None, 0)
    if mean is None:
        ci95 = None
    elif all(score in (0, 1) for score in scored):
        ci95 = share_interval(mean, len(scored), values, clusters)
    else:
        ci95 = t_interval(mean, stderr, count, 0.0)
    passed = sum(r["passed"] is True for r in results)
    pass_rate, pass_rate_ci95 = share(due)
    pass_rate_scored, pass_rate_scored_ci95 = share(passes)
    at_k = {str(k): pass_k(due.values(), k, any) for k in range(1, repetitions + 1)}
    hat_k = {str(k): pass_k(due.values(), k, all) for k in range(1, repetitions + 1)}
    return {
        "mean": mean,
        "stderr": stderr,
        "ci95": ci95,
        "passed": passed,
        "wrong": len(scored) - passed,
        "no_output": sum(r["status"] == "failed" for r in results),
        "pass_rate": pass_rate,
        "pass_rate_ci95": pass_rate_ci95,
        "pass_rate_scored": pass_rate_scored,
        "pass_rate_scored_ci95": pass_rate_scored_ci95,
        "pass_at_k": {k: value for k, value in at_k.items() if value is not None},
        "pass_hat_k": {k: value for k, value in hat_k.items() if value is not None},
        "results": len(results),
        **{status: sum(r["status"] == status for r in results) for status in ("ok", "failed", "unscored")},
    }


def sample_scores(sample):
    """Of scores of one result each: passed is 1."""
    results = [
        {"section": "s", "order_index": at, "score": score, "passed": score == 1, "status": "ok"}
        for at, score in enumerate(sample["scores"])
    ]
    cluster_of = {("s", at): cluster for at, cluster in enumerate(sample["clusters"])}
    found = scores(results, 1, cluster_of)
    return {name: found[name] for name in ("mean", "stderr", "ci95", "pass_rate", "pass_rate_ci95")}


def nearest_rank(values, percent):
    ordered = sorted(values)
    return ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1] if ordered else None


def count(usages, *names):
    return sum(next((u[n] for n in names if n in u), 0) for u in usages if u is not None)


def amount(price, input_tokens, output_tokens):
    return Fraction(0) if price is None else (
        Fraction(str(price["input_per_million"])) * input_tokens + Fraction(str(price["output_per_million"])) * output_tokens
    )


def summary(results, repetitions, price, judge_price, cluster_of):
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
    by_section = {name: scores([r for r in results if r["section"] == name], repetitions, cluster_of) for name in sections}
    cost = None
    if price is not None or judge_price is not None:
        model = amount(price, used["input_tokens"], used["output_tokens"])
        judge = amount(judge_price, used["judge_input_tokens"], used["judge_output_tokens"])
        cost = {"amount": float((model + judge) / 10**6), "currency": (price or judge_price)["currency"]}
    return {
        "scores": {**scores(results, repetitions, cluster_of), "by_section": by_section},
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


def comparison(results, other, cluster_of=None):
    first, second = scored_items(results), scored_items(other)
    keys = [key for key in first if key in second]
    differences = [second[key][0] - first[key][0] for key in keys]
    mean = mean_of(differences)
    stderr, count = clustered_error(differences, keys)
    return {
        "paired": len(keys),
        "mean": mean_of([first[key][0] for key in keys]),
        "other_mean": mean_of([second[key][0] for key in keys]),
        "mean_difference": mean,
        "stderr": stderr,
        "ci95": t_interval(mean, stderr, count, -1.0),
        "wins": sum(d > 0 for d in differences),
        "losses": sum(d < 0 for d in differences),
        "ties": sum(d == 0 for d in differences),
        "p_value": mcnemar(
            sum(first[key][1] and not second[key][1] for key in keys),
            sum(second[key][1] and not first[key][1] for key in keys),
        ),
    }


def difference(values, clusters):
    mean = mean_of(values)
    stderr, count = clustered_error(values, clusters)
    return {"mean_difference": mean, "stderr": stderr, "ci95": t_interval(mean, stderr, count, -1.0)}


request = json.load(sys.stdin)
answer = {}
if "results" in request:
    prices = [request.get("price"), request.get("judge_price")]
    stated = request.get("clusters")  # [[section, order_index, cluster], …]
    cluster_of = None if stated is None else {(section, at): cluster for section, at, cluster in stated}
    answer = summary(request["results"], request["repetitions"], *prices, cluster_of)
if "other" in request:
    answer["comparison"] = comparison(request["results"], request["other"])
if "samples" in request:
    answer["samples"] = [sample_scores(sample) for sample in request["samples"]]
if "differences" in request:
    answer["differences"] = [difference(**one) for one in request["differences"]]
if "mcnemar" in request:
    answer["mcnemar"] = [mcnemar(b, c) for b, c in request["mcnemar"]]
json.dump(answer, sys.stdout)
