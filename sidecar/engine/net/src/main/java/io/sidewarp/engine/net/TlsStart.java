// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.sidewarp.engine.net.tls.TlsCredentials;
import javax.net.ssl.SSLEngine;

/** Parts of a TLS stream that begins on a connection. */
public record TlsStart(TlsCredentials credentials, SSLEngine engine, TlsListener listener) {}
