// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Span exporter that keeps the ended spans. */
public final class EndedSpans implements SpanExporter {
    private final List<SpanData> ended = new CopyOnWriteArrayList<>();

    /** Returns the spans in the order in which they ended. The list also shows spans that end later. */
    public List<SpanData> ended() {
        return ended;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        ended.addAll(spans);
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
    }
}
