// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ObjLongConsumer;

/** Counts what quotas refused, by the setting that holds the limit. Thread-safe. */
public final class QuotaRefusals {

    private final Map<String, LongAdder> bySetting = new ConcurrentHashMap<>();

    /** The setting may refuse something. Alerts want its count before there is anything to count. */
    public void expect(String setting) {
        count(setting);
    }

    /** One more refusal. */
    public void add(String setting) {
        count(setting).increment();
    }

    private LongAdder count(String setting) {
        return bySetting.computeIfAbsent(setting, ignored -> new LongAdder());
    }

    /** Each setting that may refuse something, and how often it did. */
    public void forEach(ObjLongConsumer<String> taker) {
        bySetting.forEach((setting, count) -> taker.accept(setting, count.sum()));
    }
}
