{{/*
Copyright The Sidewarp Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{/* The part of the node agent's environment that has values of its own. */}}
{{- define "sidewarp.nodeAgentVariables" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY
  value: {{ .Values.nodeAgent.devicePluginDirectory }}
- name: SIDEWARP_AGENT_POD_RESOURCES_SOCKET
  value: {{ .Values.nodeAgent.kubeletDirectory }}/pod-resources/kubelet.sock
- name: SIDEWARP_AGENT_PLUGIN_REGISTRY_DIRECTORY
  value: {{ .Values.nodeAgent.kubeletDirectory }}/plugins_registry
- name: SIDEWARP_AGENT_DRA_PLUGIN_DIRECTORY
  value: {{ .Values.nodeAgent.kubeletDirectory }}/plugins/rnic.sidewarp.io
- name: QUARKUS_HTTP_PORT
  value: {{ .Values.nodeAgent.port | quote }}
- name: QUARKUS_LOG_LEVEL
  value: {{ .Values.nodeAgent.logLevel }}
{{- with .Values.telemetry.otlpEndpoint }}
- name: OTEL_SDK_DISABLED
  value: "false"
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{- define "sidewarp.nodeAgent" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: sidewarp-node-agent
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "sidewarp.labels" (dict "root" $ "component" "node-agent" "manager" "sidewarp-controller") | nindent 4 }}
spec:
  selector:
    matchLabels:
      {{- include "sidewarp.selector" "node-agent" | nindent 6 }}
  updateStrategy:
    rollingUpdate:
      maxUnavailable: {{ .Values.nodeAgent.maxUnavailable }}
  template:
    metadata:
      labels:
        {{- include "sidewarp.labels" (dict "root" $ "component" "node-agent" "manager" "sidewarp-controller") | nindent 8 }}
    spec:
      serviceAccountName: sidewarp-node-agent
      {{- include "sidewarp.pullSecrets" . | nindent 6 }}
      priorityClassName: {{ .Values.nodeAgent.priorityClassName | quote }}
      # The agent configures the node's own interfaces.
      hostNetwork: true
      dnsPolicy: ClusterFirstWithHostNet
      containers:
        - name: node-agent
          image: {{ include "sidewarp.image" (dict "root" . "image" .Values.nodeAgent.image) | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          terminationMessagePolicy: FallbackToLogsOnError
          env:
            {{- $variables := include "sidewarp.nodeAgentVariables" . }}
            {{- include "sidewarp.withSettings" (dict "root" . "component" "nodeAgent" "environment" $variables) | nindent 12 }}
          ports:
            - name: http
              containerPort: {{ .Values.nodeAgent.port }}
              hostPort: {{ .Values.nodeAgent.port }}
              # API servers before 1.21 require the protocol in server-side apply.
              protocol: TCP
          startupProbe:
            httpGet:
              path: /q/health/live
              port: http
            # The kubelet writes an event for each probe that fails.
            initialDelaySeconds: 3
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /q/health/live
              port: http
            periodSeconds: 10
            timeoutSeconds: 3
          readinessProbe:
            httpGet:
              path: /q/health/ready
              port: http
            periodSeconds: 10
            timeoutSeconds: 3
          resources:
            {{- toYaml .Values.nodeAgent.resources | nindent 12 }}
          securityContext:
            # The agent writes to sysfs, talks to devlink and RDMA netlink, and serves the kubelet.
            privileged: true
            runAsUser: 0
            readOnlyRootFilesystem: true
          volumeMounts:
            - name: sys
              mountPath: /sys
            - name: dev
              mountPath: /dev
            - name: state
              mountPath: /var/lib/sidewarp
            - name: device-plugins
              mountPath: {{ .Values.nodeAgent.devicePluginDirectory }}
            - name: pod-resources
              mountPath: {{ .Values.nodeAgent.kubeletDirectory }}/pod-resources
              readOnly: true
            - name: dra-plugin
              mountPath: {{ .Values.nodeAgent.kubeletDirectory }}/plugins/rnic.sidewarp.io
            - name: plugins-registry
              mountPath: {{ .Values.nodeAgent.kubeletDirectory }}/plugins_registry
            - name: cdi
              mountPath: /var/run/cdi
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: sys
          hostPath:
            path: /sys
            type: Directory
        - name: dev
          hostPath:
            path: /dev
            type: Directory
        # Former state of the NICs, before the agent changed them.
        - name: state
          hostPath:
            path: /var/lib/sidewarp
            type: DirectoryOrCreate
        - name: device-plugins
          hostPath:
            path: {{ .Values.nodeAgent.devicePluginDirectory }}
            type: DirectoryOrCreate
        - name: pod-resources
          hostPath:
            path: {{ .Values.nodeAgent.kubeletDirectory }}/pod-resources
            type: DirectoryOrCreate
        # Sockets of the DRA driver.
        - name: dra-plugin
          hostPath:
            path: {{ .Values.nodeAgent.kubeletDirectory }}/plugins/rnic.sidewarp.io
            type: DirectoryOrCreate
        - name: plugins-registry
          hostPath:
            path: {{ .Values.nodeAgent.kubeletDirectory }}/plugins_registry
            type: DirectoryOrCreate
        # Descriptions of devices for the container runtime.
        - name: cdi
          hostPath:
            path: /var/run/cdi
            type: DirectoryOrCreate
        - name: tmp
          emptyDir: {}
      {{- with .Values.nodeAgent.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeAgent.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.nodeAgent.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
