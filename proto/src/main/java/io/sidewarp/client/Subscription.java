// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Something that goes on until it is closed. */
public interface Subscription extends AutoCloseable {

    @Override
    void close();
}
