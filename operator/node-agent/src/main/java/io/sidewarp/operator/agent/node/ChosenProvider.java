// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.deviceplugin.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.ProviderCounts;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The provider that a node offers to pods, with its devices, and the fallbacks that were tried. */
final class ChosenProvider {

    private final List<RnicDevice> devices;
    private final List<String> failed = new ArrayList<>();
    private final List<String> waiting = new ArrayList<>();
    private final List<String> passedOver = new ArrayList<>();
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

    List<RnicDevice> devices() {
        return devices;
    }

    Optional<ProviderKind> provider() {
        return Optional.ofNullable(provider);
    }

    ProviderCounts counts() {
        return new ProviderCounts(hardware, siw, software);
    }

    /** Returns the reasons why siw, which the specification asks for, does not work. The caller adds to the list. */
    List<String> failed() {
        return failed;
    }

    /** Returns what waits for pods to end. The caller adds to the list. */
    List<String> waiting() {
        return waiting;
    }

    /** Returns fallbacks that do not work here but have another behind them. The caller adds to the list. */
    List<String> passedOver() {
        return passedOver;
    }

    /** Returns the state of siw. */
    ProvisioningState siwState() {
        if (!failed.isEmpty()) {
            return ProvisioningState.FAILED;
        }
        return waiting.isEmpty() ? ProvisioningState.DONE : ProvisioningState.WAITING;
    }
}
