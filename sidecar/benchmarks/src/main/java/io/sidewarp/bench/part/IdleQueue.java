// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.process.SidecarProcess;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkQueue;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;

/** Measures the costs of an open but idle queue over rings, with the defaults of the client. */
public final class IdleQueue {

    public static final Subject SUBJECT = Subject.peer("application", "idle queue", 0, "adaptive");

    private static final double KIB = 1024;
    private static final Duration SETTLING = Duration.ofSeconds(2);
    private static final Duration TIME = Duration.ofSeconds(5);
    private static final Duration QUICK_TIME = Duration.ofSeconds(1);

    private IdleQueue() {}

    /** Opens a queue in this process, which is otherwise idle. */
    static void measure(Lab lab, Recorder recorder, SidecarProcess sidecar) {
        Duration time = lab.quick() ? QUICK_TIME : TIME;
        try (SidewarpClient client = sidecar.client();
                Session session = client.openSession("bench")) {
            long octets = sidecar.volumeOctets();
            try (WorkQueue queue = session.openQueue(QueueOptions.defaults().withPath(QueuePath.RINGS))) {
                queue.onCompletion(completion -> {});
                double files = (sidecar.volumeOctets() - octets) / KIB;
                pause(SETTLING);
                OptionalLong sidecarBegin = sidecar.cpu().nanos();
                OptionalLong ownBegin = ProcessCpu.own().nanos();
                long begin = System.nanoTime();
                pause(time);
                double percent = 100.0 / (System.nanoTime() - begin);
                double sidecarPercent = sidecar.cpu().since(sidecarBegin) * percent;
                double ownPercent = ProcessCpu.own().since(ownBegin) * percent;
                recorder.add(SUBJECT, Metric.SIDECAR_CPU_PERCENT, sidecarPercent);
                recorder.add(SUBJECT, Metric.APPLICATION_CPU_PERCENT, ownPercent);
                recorder.add(SUBJECT, Metric.FILES_KIB, files);
                lab.progress()
                        .accept(String.format(
                                Locale.ROOT,
                                "idle queue: sidecar %.1f %%, application %.1f %% of a processor, %.0f KiB of files",
                                sidecarPercent,
                                ownPercent,
                                files));
            }
        }
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }
}
