// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.ProviderCounts;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The provider that a node offers to pods, with its devices, and the fallbacks that were tried. */
final class ChosenProvider {

    final List<RnicDevice> devices;

    /** Reasons why siw, which the specification asks for, does not work. */
    final List<String> failed = new ArrayList<>();

    /** Reasons to wait for pods to end. */
    final List<String> waiting = new ArrayList<>();

    /** Fallbacks that do not work here but have another behind them. */
    final List<String> passedOver = new ArrayList<>();

    private final int hardware;
    private int siw;
    private int software;
    private @Nullable ProviderKind provider;

    /** Chooses hardware if there is any. */
    ChosenProvider(List<RnicDevice> hardware) {
        this.devices = new ArrayList<>(hardware);
        this.hardware = hardware.size();
        this.provider = hardware.isEmpty() ? null : ProviderKind.HARDWARE;
    }

    /** Chooses siw. */
    void kernelSiw(List<RnicDevice> shares) {
        devices.addAll(shares);
        siw = shares.size();
        provider = ProviderKind.KERNEL_SIW;
    }

    /** Counts the devices of the software provider, and chooses it if there is no better one. */
    void software(int count) {
        software = count;
        if (provider == null) {
            devices.addAll(DeviceOffer.software(count));
            provider = ProviderKind.SOFTWARE;
        }
    }

    Optional<ProviderKind> provider() {
        return Optional.ofNullable(provider);
    }

    ProviderCounts counts() {
        return new ProviderCounts(hardware, siw, software);
    }

    /** Returns the state of siw. */
    ProvisioningState siwState() {
        if (!failed.isEmpty()) {
            return ProvisioningState.FAILED;
        }
        return waiting.isEmpty() ? ProvisioningState.DONE : ProvisioningState.WAITING;
    }
}
