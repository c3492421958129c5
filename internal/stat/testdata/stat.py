# Recomputes what package stat computes, in other ways: TestPython compares. Standard library alone.
#
#   wilson   the ends are where the score test is at 1.96 deviations: found by halving
#   mcnemar  the binomial sum in whole numbers
#   median   of every sample of a set that there is, not of some
#   mean     by the standard deviation of the module statistics, and the sum that Student's distribution
#            is of a whole number of degrees of freedom, where it is 0.95: found by halving
#   ranks    the last value that at most 2.5 % of samples have above the median, in whole numbers
from fractions import Fraction
from itertools import accumulate, product
from math import atan, comb, cos, pi, sin, sqrt
from statistics import NormalDist, mean, median, stdev

Z = NormalDist().inv_cdf(0.975)


def wilson(n, of):
    def end(inside, outside):  # p between n/of, where the score is 0, and 0 or 1
        for _ in range(200):
            p = (inside + outside) / 2
            if (n / of - p) ** 2 > Z * Z * p * (1 - p) / of:
                outside = p
            else:
                inside = p
        return inside

    share = n / of
    return end(share, 0.0) if n else 0.0, end(share, 1.0) if n < of else 1.0


def mcnemar(b, c):
    n = b + c
    tail = sum(comb(n, k) for k in range(min(b, c) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def student(v):
    def within(t):  # the chance of -t to t, by the angle whose tangent is t / sqrt(v)
        angle = atan(t / sqrt(v))
        term, total = (cos(angle), 0.0) if v % 2 else (1.0, 0.0)
        for k in range(3 if v % 2 else 2, v + 1, 2):
            total += term
            term *= cos(angle) ** 2 * (k - 1) / k
        return 2 / pi * (angle + sin(angle) * total) if v % 2 else sin(angle) * total

    low, high = 0.0, 1000.0
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if within(t) < 0.95 else (low, t)
    return low


for n, of in [(a * of // 6, of) for of in (1, 2, 10, 263, 5000) for a in range(7)]:
    print("wilson", n, of, *map(repr, wilson(n, of)))
for b, c in [(b, c) for b in (0, 1, 6, 86, 700) for c in (0, 2, 7, 150, 650)]:
    print("mcnemar", b, c, repr(float(mcnemar(b, c))))
for values in ([2, 3, 5, 8, 13], [16, 23, 38, 94, 99, 141, 197]):
    medians = [median(sample) for sample in product(values, repeat=len(values))]
    print("median", *[float(Fraction(sum(m > v for m in medians), len(medians))) for v in values], *values)
for values in ([0] * 9 + [1], [2, 3, 5, 8, 13] * 3, [7] * 12, list(range(0, 3000, 7)), [0] * 999 + [100]):
    half = student(len(values) - 1) * stdev(values) / len(values) ** 0.5
    print("mean", repr(max(0.0, mean(values) - half)), repr(float(mean(values) + half)), *values)
for n in (1, 5, 6, 7, 30, 101, 1999):
    chances = accumulate(comb(n, k) for k in range(n))  # of so many values or fewer below the median, in 2^n
    first = max([k for k, chance in enumerate(chances) if 40 * chance <= 2**n], default=0)
    print("ranks", n, first, n - 1 - first)
