{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* What all webhooks have in common. */}}
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
sideEffects: None
matchPolicy: Equivalent
# Containers that another webhook adds later get the socket and the regions too.
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.webhook.timeoutSeconds }}
{{- end }}

{{/*
The authorities that the API server trusts now, which the controller has written: an upgrade leaves them as they are. Those of
the former release are in a configuration of another name.
*/}}
{{- define "sidewarp.caBundle" -}}
{{- $of := dict "apiVersion" "admissionregistration.k8s.io/v1" "kind" "MutatingWebhookConfiguration" }}
{{- $present := include "sidewarp.lookup" (merge (dict "name" "sidewarp-webhook") $of) | fromYaml }}
{{- $former := include "sidewarp.lookup" (merge (dict "name" "sidewarp") $of) | fromYaml }}
{{- with ($present | default $former).webhooks }}{{ (first .).clientConfig.caBundle }}{{ end }}
{{- end }}

{{/* API servers before 1.28 do not know this. */}}
{{- define "sidewarp.annotated" -}}
matchConditions:
  - name: annotated
    expression: has(object.metadata.annotations) && 'sidewarp.io/inject' in object.metadata.annotations
{{- end }}
