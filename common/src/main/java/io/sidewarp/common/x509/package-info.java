// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** X.509 certificates, requests for them, and their files, with the Java library alone. */
@NullMarked
package io.sidewarp.common.x509;

import org.jspecify.annotations.NullMarked;
