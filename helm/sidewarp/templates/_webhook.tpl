{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}

{{/* What all webhooks have in common. */}}
{{- define "sidewarp.webhookCall" -}}
clientConfig:
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

{{/* API servers before 1.28 do not know this. */}}
{{- define "sidewarp.annotated" -}}
matchConditions:
  - name: annotated
    expression: has(object.metadata.annotations) && 'sidewarp.io/inject' in object.metadata.annotations
{{- end }}

{{- define "sidewarp.webhook" -}}
{{- $matchConditions := semverCompare ">=1.28.0-0" .Capabilities.KubeVersion.Version }}
{{- $annotatedPolicy := $matchConditions | ternary .Values.webhook.failurePolicy "Ignore" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: sidewarp
  labels:
    {{- include "sidewarp.labels" (dict "root" $ "component" "controller" "manager" "sidewarp-controller") | nindent 4 }}
webhooks:
  # Pods of namespaces that have the label. A value that is neither enabled nor disabled is refused with an explanation.
  - name: namespaces.inject.sidewarp.io
    failurePolicy: {{ .Values.webhook.failurePolicy }}
    namespaceSelector:
      matchExpressions:
        - key: sidewarp.io/inject
          operator: Exists
        - key: sidewarp.io/inject
          operator: NotIn
          values: [disabled, "false"]
        # Not the operator's own pods: they must start while there is nobody yet who answers.
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values: [{{ .Release.Namespace | quote }}]
    {{- include "sidewarp.webhookCall" . | nindent 4 }}
  # Pods of the other namespaces, which can have the annotation.
  - name: pods.inject.sidewarp.io
    failurePolicy: {{ .Values.webhook.annotatedPodsFailurePolicy | default $annotatedPolicy }}
    namespaceSelector:
      matchExpressions:
        - key: sidewarp.io/inject
          operator: DoesNotExist
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values: {{ append .Values.webhook.excludedNamespaces .Release.Namespace | uniq | toJson }}
    {{- if $matchConditions }}
    {{- include "sidewarp.annotated" . | nindent 4 }}
    {{- end }}
    {{- include "sidewarp.webhookCall" . | nindent 4 }}
  {{- if $matchConditions }}
  # Pods that have the annotation where the namespace's label forbids it: they get no sidecar, and their authors are told.
  - name: forbidden.inject.sidewarp.io
    failurePolicy: Ignore
    namespaceSelector:
      matchExpressions:
        - key: sidewarp.io/inject
          operator: In
          values: [disabled, "false"]
        - key: kubernetes.io/metadata.name
          operator: NotIn
          values: {{ append .Values.webhook.excludedNamespaces .Release.Namespace | uniq | toJson }}
    {{- include "sidewarp.annotated" . | nindent 4 }}
    {{- include "sidewarp.webhookCall" . | nindent 4 }}
  {{- end }}
{{- end }}
