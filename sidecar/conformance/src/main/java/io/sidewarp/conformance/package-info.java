// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Ties tests to the requirements of the RFCs and reports which of these are proved. */
@org.jspecify.annotations.NullMarked
package io.sidewarp.conformance;
