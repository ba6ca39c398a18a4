// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;

/** Counts the refusals of quotas by the setting of the limit. Thread-safe. */
public final class QuotaRefusals {

    private final Map<String, LongAdder> bySetting = new ConcurrentHashMap<>();

    /** Creates the count of a setting with the value 0, because alerts need a series before the first refusal. */
    public void expect(String setting) {
        count(setting);
    }

    /** Counts a refusal. */
    public void add(String setting) {
        count(setting).increment();
    }

    private LongAdder count(String setting) {
        return bySetting.computeIfAbsent(setting, ignored -> new LongAdder());
    }

    /** Calls {@code taker} with each setting and the number of its refusals. */
    public void forEach(ObjLongConsumer<String> taker) {
        bySetting.forEach((setting, count) -> taker.accept(setting, count.sum()));
    }
}
