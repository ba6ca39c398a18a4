// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

/**
 * Name of a pod.
 *
 * @param namespace namespace of the pod
 * @param name name of the pod within its namespace
 */
public record PodName(String namespace, String name) {

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
