// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.kubelet.ClaimException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests what happens to a claim, its device or its kubelet while the claim is prepared. */
@RealApiServer
class PreparationRaceTest extends DraDriverFixture {

    /** A call to the driver. */
    private interface Call {
        void run() throws ClaimException;
    }

    /** Calls something before each look at the devices. */
    private final class Inventory implements DeviceInventory {
        private final Runnable beforeLook;

        Inventory(Runnable beforeLook) {
            this.beforeLook = beforeLook;
        }

        @Override
        public Optional<List<RnicDevice>> devices() {
            beforeLook.run();
            return devices.devices();
        }

        @Override
        public Subscription onChange(Runnable listener) {
            return devices.onChange(listener);
        }
    }

    private final CountDownLatch released = new CountDownLatch(1);
    private volatile @Nullable Context preparation;

    @Test
    void aPreparationThatTheKubeletHasGivenUpLeavesNoRecord() throws Exception {
        startWithHeldPreparations();
        ResourceClaim abandoned = claim("abandoned", TestClaims.result("rnic", node, "0000-3b-01-0"));
        ResourceClaim next = claim("next", TestClaims.result("rnic", node, "0000-3b-01-1"));
        CompletableFuture<Void> call = start(() -> kubelet.claims().prepare(POD, abandoned, DRIVER));
        Context held = awaitPreparation();

        kubelet.restart();
        await().atMost(LIMIT).until(held::isCancelled);
        released.countDown();
        awaitRegistered();

        assertThatThrownBy(call::join).hasRootCauseInstanceOf(StatusRuntimeException.class);
        // Claims are prepared one after the other: the abandoned preparation ends before the next one.
        kubelet.claims().prepare(POD, next, DRIVER);
        assertThat(cdiFiles()).containsExactly(cdiPath(next));
        assertThat(driver.preparedDevices()).containsOnlyKeys("0000:3b:01.1");
    }

    @Test
    void unprepareWaitsForThePreparation() throws Exception {
        startWithHeldPreparations();
        ResourceClaim claim = claim("short", TestClaims.result("rnic", node, "0000-3b-01-0"));
        CompletableFuture<Void> prepare = start(() -> kubelet.claims().prepare(POD, claim, DRIVER));
        awaitPreparation();

        CompletableFuture<Void> unprepare = start(() -> kubelet.claims().unprepare(claim, DRIVER));
        await().atMost(LIMIT).until(() -> unprepare.isDone() || isBlockedIn("nodeUnprepareResources"));
        released.countDown();

        prepare.join();
        unprepare.join();
        assertThat(cdiFiles()).isEmpty();
        assertThat(driver.preparedDevices()).isEmpty();
    }

    @Test
    void aDeviceThatIsWithheldDuringThePreparationIsRefused() throws Exception {
        startWithDeviceThatBecomes(FIRST.faulty("it is about to change"));

        assertRefused(claim("late", TestClaims.result("rnic", node, "0000-3b-01-0")), "it is about to change");

        assertThat(cdiFiles()).isEmpty();
        assertThat(driver.preparedDevices()).isEmpty();
    }

    @Test
    void aDeviceThatIsMadeAgainDuringThePreparationIsRefusedOnce() throws Exception {
        startWithDeviceThatBecomes(RnicDevice.hardware(FIRST.id(), "iwp0", "uverbs7"));
        ResourceClaim claim = claim("late", TestClaims.result("rnic", node, "0000-3b-01-0"));

        assertRefused(claim, "have just changed");
        assertThat(cdiFiles()).isEmpty();

        assertThat(kubelet.claims().prepare(POD, claim, DRIVER)).hasSize(1);
        assertThat(cdiPath(claim)).content().contains("uverbs7");
    }

    /** Starts a driver whose preparations wait for the test, after they have read the claim. */
    private void startWithHeldPreparations() {
        driver = newDriver(new Inventory(() -> {
            // Only calls of the kubelet have a context.
            if (!Context.current().equals(Context.ROOT)) {
                preparation = Context.current();
                awaitRelease();
            }
        }));
        startWith(FIRST, SECOND);
    }

    /** Starts a driver whose device changes as soon as a CDI file is written. */
    private void startWithDeviceThatBecomes(RnicDevice next) {
        driver = newDriver(new Inventory(() -> {
            if (hasCdiFiles()) {
                devices.publish(List.of(next));
            }
        }));
        startWith(FIRST);
    }

    private boolean hasCdiFiles() {
        try {
            return !cdiFiles().isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void awaitRelease() {
        try {
            if (!released.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("the test has not released the preparation");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Context awaitPreparation() {
        return await().atMost(LIMIT).until(() -> preparation, Objects::nonNull);
    }

    private static CompletableFuture<Void> start(Call call) {
        // The common pool has only one thread on a small machine.
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        call.run();
                    } catch (ClaimException e) {
                        throw new CompletionException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    private static boolean isBlockedIn(String method) {
        return Thread.getAllStackTraces().entrySet().stream()
                .anyMatch(thread -> thread.getKey().getState() == Thread.State.BLOCKED
                        && Arrays.stream(thread.getValue())
                                .anyMatch(frame -> frame.getMethodName().equals(method)));
    }
}
