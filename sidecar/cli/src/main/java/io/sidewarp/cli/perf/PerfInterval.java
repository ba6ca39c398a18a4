// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.text.Listing;
import io.sidewarp.cli.text.Sizes;
import java.util.Locale;

/**
 * Part of a test that is under way.
 *
 * @param begin nanoseconds after the begin of the test
 * @param end nanoseconds after the begin of the test
 * @param left nanoseconds until the end of the test
 * @param messages complete in this part, over all connections
 */
record PerfInterval(PerfPlan plan, long begin, long end, long left, long messages) {

    /** The object that docs/cli.md describes. */
    static final Listing<PerfInterval> LISTING = new Listing<PerfInterval>("intervals")
            .member("version", _ -> PerfResult.JSON_VERSION)
            .member("operation", interval -> interval.plan.operation())
            .member("mode", _ -> "interval")
            .member("size", interval -> interval.plan.size())
            .member("begin", interval -> interval.begin / 1e9)
            .member("end", interval -> interval.end / 1e9)
            .member("messages", PerfInterval::messages)
            .member("octets", interval -> interval.messages * interval.plan.size())
            .member("gigabits_per_second", PerfInterval::gigabitsPerSecond)
            .member("messages_per_second", PerfInterval::messagesPerSecond);

    /** Returns a line for people. */
    String line() {
        return String.format(
                Locale.ROOT,
                "%s %s: %.2f-%.2f s, %.2f Gbit/s, %.0f messages/s",
                plan.operation(),
                Sizes.format(plan.size()),
                begin / 1e9,
                end / 1e9,
                gigabitsPerSecond(),
                messagesPerSecond());
    }

    /** Returns a line that shows the progress of the test. */
    String progress() {
        return String.format(
                Locale.ROOT,
                "%s %s: %.0f s left, %.2f Gbit/s, %.0f messages/s",
                plan.operation(),
                Sizes.format(plan.size()),
                left / 1e9,
                gigabitsPerSecond(),
                messagesPerSecond());
    }

    private double messagesPerSecond() {
        return messages / ((end - begin) / 1e9);
    }

    private double gigabitsPerSecond() {
        return messagesPerSecond() * plan.size() * 8 / 1e9;
    }
}
