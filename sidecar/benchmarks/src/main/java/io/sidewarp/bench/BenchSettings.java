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
 * What the command was called with.
 *
 * @param root directory of the sources
 * @param against another build that this one is compared with
 * @param time of a measurement
 * @param json file of the results; its other parts are kept
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
