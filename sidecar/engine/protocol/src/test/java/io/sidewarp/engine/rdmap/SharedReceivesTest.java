// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Ulpdus.immediate;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendLast;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests receives that several streams share. */
class SharedReceivesTest {

    private static final int CAPACITY = 4;

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private final SharedReceives receives = new SharedReceives(CAPACITY);
    private final EndpointOptions options =
            EndpointOptions.defaults().memory(memory).sharedReceives(receives);
    private final LoneStream first = new LoneStream(options.queuePair(1));
    private final LoneStream second = new LoneStream(options.queuePair(2));
    private final MemoryRegion region = memory.region(400);

    private void post(long id) {
        Wqe wqe = Objects.requireNonNull(receives.claim());
        wqe.set(new Wr().reset(id, WrOpcode.RECEIVE).addSge(region, id * 10, 10));
        receives.publish(wqe);
    }

    @Test
    void messagesOfAllStreamsTakeTheOldestReceiveInTheOrderOfTheirArrival() {
        for (long id = 1; id <= 3; id++) {
            post(id);
        }

        first.input(send(1, hex("A1")));
        second.input(send(1, hex("B1")));
        first.input(immediate(2, 7));

        assertThat(first.completions().receiveIds()).containsExactly(1L, 3L);
        assertThat(second.completions().receiveIds()).containsExactly(2L);
        assertThat(TestMemory.get(region, 10, 1)).isEqualTo(hex("A1"));
        assertThat(TestMemory.get(region, 20, 1)).isEqualTo(hex("B1"));
        assertThat(receives.size()).isZero();
    }

    @Test
    void eachStreamCountsItsOwnMessages() {
        post(1);
        post(2);
        first.input(send(1, hex("A1")));

        second.input(send(2, hex("B1")));

        assertThat(second.onlyOutput().payload()).startsWith(hex("12 03 C0 00"));
        assertThat(second.completions().isEmpty()).isTrue();
        assertThat(receives.size()).isEqualTo(1);
    }

    @Test
    void aMessageKeepsItsReceiveWhileOthersArrive() {
        post(1);
        post(2);

        first.input(sendMore(1, 0, hex("A1A2")));
        second.input(send(1, hex("B1")));
        first.input(sendLast(1, 2, hex("A3")));

        assertThat(second.completions().receiveIds()).containsExactly(2L);
        assertThat(first.completions().receiveIds()).containsExactly(1L);
        assertThat(TestMemory.get(region, 10, 3)).isEqualTo(hex("A1A2A3"));
    }

    @Test
    void aMessageThatFindsNoReceiveEndsItsStreamOnly() {
        post(1);
        first.input(send(1, hex("A1")));

        first.input(send(2, hex("A2")));

        assertThat(first.onlyOutput().payload()).startsWith(hex("12 02 C0 00"));
        post(2);
        second.input(send(1, hex("B1")));
        assertThat(second.completions().receiveIds()).containsExactly(2L);
    }

    @Test
    void theEndOfAStreamCostsTheReceiveOfAnUnfinishedMessageOnly() {
        post(1);
        post(2);
        first.input(sendMore(1, 0, hex("A1")));

        first.wire().over(false, "reset");

        assertThat(first.completions().receiveIds()).containsExactly(1L);
        assertThat(first.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(receives.size()).isEqualTo(1);
        second.input(send(1, hex("B1")));
        assertThat(second.completions().receiveIds()).containsExactly(2L);
    }

    @Test
    void noMoreReceivesArePostedOrInUseThanItHolds() {
        for (long id = 0; id < CAPACITY; id++) {
            post(id);
        }
        assertThat(receives.claim()).isNull();
        first.input(sendMore(1, 0, hex("A1")));
        assertThat(receives.claim()).isNull();

        first.input(sendLast(1, 1, hex("A2")));

        post(9);
        assertThat(receives.claim()).isNull();
    }

    @Test
    @Timeout(60)
    void whoHearsOfACompletionCanPostAnotherReceiveAtOnce() {
        for (long id = 0; id < CAPACITY; id++) {
            post(id);
        }
        List<CompletableFuture<Wqe>> claims = new ArrayList<>();
        // Before the stream gives the element of the receive back.
        first.completions().onEachCompletion(() -> claims.add(CompletableFuture.supplyAsync(receives::claim)));

        first.input(send(1, hex("A1")));

        assertThat(claims).singleElement().extracting(CompletableFuture::join).isNotNull();
        assertThat(receives.claim()).isNull();
    }

    @Test
    @Requirement("RDMAP-8.1.2-08")
    void theLimitIsToldOnceWhenFewerReceivesAreLeftAndCompletionsTellWhoTookThem() {
        AtomicInteger told = new AtomicInteger();
        for (long id = 0; id < CAPACITY; id++) {
            post(id);
        }
        receives.arm(3, told::incrementAndGet);

        first.input(send(1, hex("01")));
        assertThat(told).hasValue(0);
        second.input(send(1, hex("02")));
        assertThat(told).hasValue(1);
        first.input(send(2, hex("03")));
        assertThat(told).hasValue(1);
        receives.arm(3, told::incrementAndGet);
        receives.arm(0, told::incrementAndGet);
        first.input(send(3, hex("04")));
        assertThat(told).hasValue(1);
        assertThat(first.completions().receiveIds()).hasSize(3);
        assertThat(second.completions().receiveIds()).hasSize(1);
    }

    @Test
    @Timeout(60)
    void manyThreadsTakeEachReceiveOnce() throws InterruptedException {
        int count = 200_000;
        SharedReceives shared = new SharedReceives(64);
        AtomicIntegerArray taken = new AtomicIntegerArray(count);
        AtomicInteger left = new AtomicInteger(count);
        AtomicInteger next = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int id = next.getAndIncrement(); id < count; id = next.getAndIncrement()) {
                    Wqe wqe = shared.claim();
                    while (wqe == null) {
                        Thread.onSpinWait();
                        wqe = shared.claim();
                    }
                    wqe.set(new Wr().reset(id, WrOpcode.RECEIVE));
                    shared.publish(wqe);
                }
            }));
            threads.add(Thread.ofPlatform().start(() -> {
                while (left.get() > 0) {
                    Wqe wqe = shared.take();
                    if (wqe == null) {
                        Thread.onSpinWait();
                    } else {
                        taken.incrementAndGet((int) wqe.id());
                        shared.complete();
                        shared.release(wqe);
                        left.decrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        for (int id = 0; id < count; id++) {
            assertThat(taken.get(id)).isEqualTo(1);
        }
    }
}
