{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* Common part of all webhooks. */}}
{{- define "sidewarp.webhookCall" -}}
clientConfig:
  {{- with include "sidewarp.caBundle" . }}
  caBundle: {{ . | quote }}
  {{- end }}
  {{- if .Values.webhook.url }}
  url: {{ .Values.webhook.url }}
  {{- else }}
  service:
    namespace: {{ .Release.Namespace | quote }}
    name: sidewarp-webhook
    port: 443
    path: /mutate-pods
  {{- end }}
rules:
  - apiGroups: [""]
    apiVersions: [v1]
    resources: [pods]
    operations: [CREATE]
    scope: Namespaced
admissionReviewVersions: [v1]
# A warning about a pod becomes an event of the pod's controller, but not in a dry run.
sideEffects: NoneOnDryRun
matchPolicy: Equivalent
# Containers that another webhook adds later also get the socket and the regions.
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.webhook.timeoutSeconds }}
{{- end }}

{{/*
The authorities that the API server trusts now. The controller has written them, and an upgrade keeps them. The former release
used a configuration with another name.
*/}}
{{- define "sidewarp.caBundle" -}}
{{- $of := dict "apiVersion" "admissionregistration.k8s.io/v1" "kind" "MutatingWebhookConfiguration" }}
{{- $present := include "sidewarp.lookup" (merge (dict "name" "sidewarp-webhook") $of) | fromYaml }}
{{- $former := include "sidewarp.lookup" (merge (dict "name" "sidewarp") $of) | fromYaml }}
{{- with ($present | default $former).webhooks }}{{ (first .).clientConfig.caBundle }}{{ end }}
{{- end }}

{{/* API servers before 1.28 do not support match conditions. */}}
{{- define "sidewarp.annotated" -}}
matchConditions:
  - name: annotated
    expression: has(object.metadata.annotations) && 'sidewarp.io/inject' in object.metadata.annotations
{{- end }}
