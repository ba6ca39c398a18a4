// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The status page that the sidecar and the controller serve to browsers on the same host. */
@NullMarked
package io.sidewarp.common.status;

import org.jspecify.annotations.NullMarked;
