// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Environment for tests of the operator: a real API server with its own certificate authority, and a collector of
 * traces. {@link io.sidewarp.operator.testing.TestResource} removes resources that must not outlive a test.
 */
@NullMarked
package io.sidewarp.operator.testing;

import org.jspecify.annotations.NullMarked;
