// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeferredTaskTest {

    private final EventLoop loop = new DefaultEventLoop();
    private final List<String> order = new ArrayList<>();

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void onLoop(Runnable task) throws Exception {
        loop.submit(task).get(10, TimeUnit.SECONDS);
    }

    /** A task that leaves another, and so on. */
    private void chain(String name, int length) {
        if (length > 0) {
            loop.execute(() -> {
                order.add(name + length);
                chain(name, length - 1);
            });
        }
    }

    private List<String> order() throws Exception {
        for (int i = 0; i < 10; i++) {
            onLoop(() -> {});
        }
        return order;
    }

    @Test
    void runsBehindWhatIsThereAndWhatThatLeaves() throws Exception {
        DeferredTask late = new DeferredTask(loop, 2, () -> order.add("late"));

        onLoop(() -> {
            late.request();
            chain("task", 3);
        });

        assertThat(order()).containsExactly("task3", "task2", "late", "task1");
    }

    @Test
    void runsOnceHoweverOftenItIsAskedForAndAgainBehindThat() throws Exception {
        DeferredTask late = new DeferredTask(loop, 1, () -> order.add("late"));

        onLoop(() -> {
            late.request();
            late.request();
        });
        assertThat(order()).containsExactly("late");

        onLoop(late::request);
        assertThat(order()).containsExactly("late", "late");
    }
}
