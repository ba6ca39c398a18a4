// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

/**
 * How the plugin stands with the kubelet.
 *
 * @param state what it does
 * @param message the same for people, with what to do where something is wrong
 * @param failedAttempts registrations that failed since the last one that succeeded
 */
public record PluginStatus(State state, String message, int failedAttempts) {

    /** What the plugin does. */
    public enum State {
        /** Not started, or stopped. */
        STOPPED,
        /** Discovery has not told which devices there are. */
        WAITING_FOR_DEVICES,
        /** The kubelet's socket is not there. */
        WAITING_FOR_KUBELET,
        /** The last registration failed; it is tried again. */
        RETRYING,
        /** The kubelet has accepted the plugin. */
        REGISTERED,
        /** Another plugin has taken the place of this one, which waits until that is gone. */
        SUPERSEDED
    }

    /** Whether pods can get devices. */
    public boolean registered() {
        return state == State.REGISTERED;
    }
}
