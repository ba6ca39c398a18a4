// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Service account that a token belongs to.
 *
 * @param pod pod that the token is bound to; empty for a token that is not bound to a pod
 * @param podUid UID of this pod
 */
record Caller(String namespace, String serviceAccount, String pod, String podUid) {
    private static final Pattern USER =
            Pattern.compile("system:serviceaccount:([a-z0-9]([-a-z0-9]*[a-z0-9])?):([a-z0-9]([-.a-z0-9]*[a-z0-9])?)");
    private static final int NAMESPACE_GROUP = 1;
    private static final int NAME_GROUP = 3;
    private static final String POD = "authentication.kubernetes.io/pod-name";
    private static final String POD_UID = "authentication.kubernetes.io/pod-uid";

    /** Returns the caller if the API server has authenticated a service account for this audience. */
    static Optional<Caller> of(TokenReviewStatus status, String audience) {
        UserInfo user = status.getUser();
        // An API server that does not know audiences leaves them out, and may have accepted a token of any audience.
        if (!Boolean.TRUE.equals(status.getAuthenticated())
                || user == null
                || user.getUsername() == null
                || !Objects.requireNonNullElse(status.getAudiences(), List.of()).contains(audience)) {
            return Optional.empty();
        }
        Matcher matcher = USER.matcher(user.getUsername());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Map<String, List<String>> extra = Objects.requireNonNullElse(user.getExtra(), Map.of());
        return Optional.of(new Caller(
                matcher.group(NAMESPACE_GROUP), matcher.group(NAME_GROUP), first(extra, POD), first(extra, POD_UID)));
    }

    private static String first(Map<String, List<String>> extra, String name) {
        return extra.getOrDefault(name, List.of()).stream().findFirst().orElse("");
    }

    /** Returns the identity of the pods of this service account. */
    String spiffeId(String trustDomain) {
        return "spiffe://" + trustDomain + "/ns/" + namespace + "/sa/" + serviceAccount;
    }
}
