// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.engine.net.tls.TlsCredentials;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Keeps what a source says. */
final class RecordingReceiver implements CertificateSource.Receiver {

    final List<TlsCredentials> delivered = new CopyOnWriteArrayList<>();
    final List<String> problems = new CopyOnWriteArrayList<>();
    final AtomicInteger unchanged = new AtomicInteger();

    @Override
    public void onCredentials(TlsCredentials credentials) {
        delivered.add(credentials);
    }

    @Override
    public void onProblem(String problem) {
        problems.add(problem);
    }

    @Override
    public void onUnchanged() {
        unchanged.incrementAndGet();
    }
}
