// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench;

import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Pinning;
import io.sidewarp.bench.result.Part;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Settings of one call of the command.
 *
 * @param root directory of the sources
 * @param against another build to compare with
 * @param parts parts to measure
 * @param repetitions number of repetitions
 * @param time time of a measurement
 * @param quick true for a short look: fewer sizes, less warming up
 * @param pinning processors of the ends
 * @param json file of the results; other parts in it are kept
 */
record BenchSettings(
        Path root,
        Optional<Build> against,
        Set<Part> parts,
        int repetitions,
        Duration time,
        boolean quick,
        Pinning pinning,
        Path json) {}
