// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

/**
 * Counts nanoseconds in buckets whose width is at most 1/64 of their value. Recording allocates nothing. Not
 * thread-safe.
 */
public final class Histogram {

    private static final int SUB_BUCKET_BITS = 6;
    private static final int SUB_BUCKETS = 1 << SUB_BUCKET_BITS;

    /** Maximum bits of a value. Values from 2^40 ns (18 minutes) on share the last bucket. */
    private static final int MAX_BITS = 40;

    private static final int BUCKETS = (MAX_BITS - SUB_BUCKET_BITS + 1) * SUB_BUCKETS;

    private final long[] counts = new long[BUCKETS];
    private long count;
    private long sum;
    private long min = Long.MAX_VALUE;
    private long max;

    /** Records a value. Negative values count as 0. */
    public void record(long nanos) {
        long value = Math.max(nanos, 0);
        counts[bucketOf(value)]++;
        count++;
        sum += value;
        min = Math.min(min, value);
        max = Math.max(max, value);
    }

    /** Adds all values of another histogram. */
    public void add(Histogram other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        count += other.count;
        sum += other.sum;
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
    }

    public long count() {
        return count;
    }

    /** Returns the minimum, or 0 when there is no value. */
    public long min() {
        return count == 0 ? 0 : min;
    }

    public long max() {
        return max;
    }

    /** Returns the arithmetic mean, or 0 when there is no value. */
    public double mean() {
        return count == 0 ? 0 : (double) sum / count;
    }

    /**
     * Returns the value that {@code percent} percent of the values do not exceed. The result is at most 1/64 too high,
     * and never above the maximum.
     *
     * @param percent more than 0, at most 100
     */
    public long percentile(double percent) {
        long rank = Math.max(1, (long) Math.ceil(count * percent / 100));
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket];
            if (seen >= rank) {
                return Math.min(highestOf(bucket), max);
            }
        }
        return max;
    }

    private static int bucketOf(long value) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(value);
        if (bits <= SUB_BUCKET_BITS) {
            return (int) value;
        }
        if (bits > MAX_BITS) {
            return BUCKETS - 1;
        }
        // Values with the same number of bits are divided by the bits after the highest bit.
        int shift = bits - SUB_BUCKET_BITS - 1;
        return (shift + 1) * SUB_BUCKETS + (int) (value >>> shift) - SUB_BUCKETS;
    }

    private static long highestOf(int bucket) {
        if (bucket == BUCKETS - 1) {
            return Long.MAX_VALUE;
        }
        int shift = bucket / SUB_BUCKETS - 1;
        if (shift < 0) {
            return bucket;
        }
        long first = (long) (bucket % SUB_BUCKETS + SUB_BUCKETS) << shift;
        return first + (1L << shift) - 1;
    }
}
