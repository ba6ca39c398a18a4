// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

/**
 * State of the plugin's registration with the kubelet.
 *
 * @param state current state
 * @param message description for people; says what to do if something is wrong
 */
public record PluginStatus(State state, String message) {

    /** Registration states of the plugin. */
    public enum State {
        /** Not started, or stopped. */
        STOPPED,
        /** Discovery has not found the devices yet. */
        WAITING_FOR_DEVICES,
        /** The kubelet's socket does not exist. */
        WAITING_FOR_KUBELET,
        /** The last registration failed and is retried. */
        RETRYING,
        /** The kubelet has accepted the plugin. */
        REGISTERED,
        /** Another plugin has replaced this one. This plugin waits until the other one ends. */
        SUPERSEDED
    }

    /** Returns whether pods can get devices. */
    public boolean registered() {
        return state == State.REGISTERED;
    }
}
