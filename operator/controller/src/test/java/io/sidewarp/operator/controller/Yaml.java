// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.client.utils.Serialization;

/** Resources of tests, written in one line of YAML. */
public final class Yaml {
    private Yaml() {}

    /** Parses YAML, in flow style too, which the client alone would take for JSON. */
    public static <T> T parse(String yaml, Class<T> type) {
        return Serialization.unmarshal("---\n" + yaml, type);
    }
}
