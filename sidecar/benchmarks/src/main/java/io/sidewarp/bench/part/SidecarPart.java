// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.process.SidecarProcess;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Measures a sidecar on all processors: time to ready, and resident memory when idle and after load. The size of its
 * image is that of the last file that {@code ./sidewarp images} wrote, if any.
 */
public final class SidecarPart implements PartRunner {

    /** A sidecar without a client. */
    public static final Subject IDLE = Subject.peer("sidecar", "idle", 0, "sleep");

    /** A sidecar after Writes of 1 MiB. */
    public static final Subject LOADED = Subject.peer("sidecar", "write", 1 << 20, "sleep");

    private static final double MIB = 1 << 20;

    /** Time after which a started process has settled. */
    private static final Duration SETTLING = Duration.ofSeconds(1);

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        try (SidecarProcess sidecar = SidecarProcess.start(lab.build(), "idle", Place.ANYWHERE, lab.directory())) {
            double ready = sidecar.readyNanos() / 1e6;
            pause();
            double resident = sidecar.residentOctets() / MIB;
            recorder.add(IDLE, Metric.READY_MILLISECONDS, ready);
            recorder.add(IDLE, Metric.RESIDENT_MIB, resident);
            lab.progress()
                    .accept(String.format(
                            Locale.ROOT, "sidecar: ready after %.0f ms, %.0f MiB resident", ready, resident));
        }
        try (SidecarPair pair = lab.at(Place.ANYWHERE, Place.ANYWHERE).startSidecars("tcp")) {
            pair.perf("write", lab.time(), lab.time().multipliedBy(2), "--size", "1M", "--depth", "8");
            double resident = pair.active().residentOctets() / MIB;
            recorder.add(LOADED, Metric.RESIDENT_MIB, resident);
            lab.progress().accept(String.format(Locale.ROOT, "sidecar under load: %.0f MiB resident", resident));
            RegionCosts.measure(lab, recorder, pair);
        }
        image(lab.build().root()).ifPresent(octets -> recorder.add(IDLE, Metric.IMAGE_MIB, octets / MIB));
    }

    private static void pause() {
        try {
            Thread.sleep(SETTLING);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Optional<Long> image(Path root) {
        Path directory = root.resolve("target/images");
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(directory)) {
            Optional<Path> file = files.filter(
                            each -> each.getFileName().toString().startsWith("sidecar"))
                    .findFirst();
            return file.isPresent() ? Optional.of(Files.size(file.get())) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
