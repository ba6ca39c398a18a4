// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * What tests of the operator run against: a real API server with its own certificate authority, a collector of traces,
 * and what never outlives a test ({@link io.sidewarp.operator.testing.Remains}).
 */
@NullMarked
package io.sidewarp.operator.testing;

import org.jspecify.annotations.NullMarked;
