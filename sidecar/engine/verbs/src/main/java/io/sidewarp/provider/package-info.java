// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Providers of devices. Each subpackage carries out verbs in its own way. */
@NullMarked
package io.sidewarp.provider;

import org.jspecify.annotations.NullMarked;
