// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** {@code sidewarp perftest}: the tests of perftest, against perftest on another iWARP endpoint. */
@NullMarked
package io.sidewarp.cli.perftest;

import org.jspecify.annotations.NullMarked;
