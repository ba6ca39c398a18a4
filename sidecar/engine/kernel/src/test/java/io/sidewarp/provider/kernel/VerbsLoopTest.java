// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsLoopTest {

    /** Open files of which one has the lowest free number. */
    private static final int FILES = 64;

    private final VerbsLoop loop = new VerbsLoop("test");

    @BeforeEach
    void start() {
        loop.start();
    }

    @AfterEach
    void end() {
        loop.end();
    }

    @Test
    void runsTasksOfManyThreadsEachOnce() throws Exception {
        int each = 10_000;
        CountDownLatch done = new CountDownLatch(4 * each);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int task = 0; task < each; task++) {
                    loop.execute(done::countDown);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void runsTimersInTheOrderInWhichTheyAreDueUnlessTheyAreCancelled() throws Exception {
        List<String> fired = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch done = new CountDownLatch(1);

        loop.execute(() -> {
            loop.schedule(Duration.ofMillis(60), done::countDown);
            loop.schedule(Duration.ofMillis(40), () -> fired.add("late"));
            loop.schedule(Duration.ofMillis(30), () -> fired.add("cancelled")).cancel();
            loop.schedule(Duration.ofMillis(1), () -> fired.add("soon"));
        });

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(fired).containsExactly("soon", "late");
    }

    @Test
    void goesOnBehindATaskThatFails() throws Exception {
        CompletableFuture<Boolean> next = new CompletableFuture<>();

        loop.execute(() -> {
            throw new IllegalStateException("on purpose");
        });
        loop.execute(() -> next.complete(loop.inLoop()));

        assertThat(next.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(loop.inLoop()).isFalse();
    }

    @Test
    void writesToNoFileThatGetsItsDescriptorsNumberLater(@TempDir Path directory) throws Exception {
        loop.end();
        List<FileChannel> files = new ArrayList<>();
        try {
            for (int i = 0; i < FILES; i++) {
                files.add(FileChannel.open(directory.resolve("file" + i), CREATE_NEW, WRITE));
            }

            loop.execute(() -> {});

            for (FileChannel file : files) {
                assertThat(file.size()).isZero();
            }
        } finally {
            for (FileChannel file : files) {
                file.close();
            }
        }
    }
}
