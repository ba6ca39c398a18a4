// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/**
 * A pod.
 *
 * @param namespace its namespace
 * @param name its name
 */
public record PodName(String namespace, String name) {

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
