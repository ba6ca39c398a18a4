// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** X.509 certificates, requests for them, and their files. Bouncy Castle writes them, and the JDK signs and reads them. */
@NullMarked
package io.sidewarp.common.x509;

import org.jspecify.annotations.NullMarked;
