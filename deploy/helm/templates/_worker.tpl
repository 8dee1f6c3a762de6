{{/* The container of a worker. Context: root, name, stage, knobs (its pod's options). */}}

{{- define "urltree.worker.env" -}}
- name: URLTREE_INSTANCE_ID
  # it stays the same after a restart, so that the worker keeps its partitions without a rebalance
  # (KIP-345)
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: URLTREE_WEB_HOST
  value: 0.0.0.0
- name: URLTREE_WEB_PORT
  value: "8080"
{{ include "urltree.pod.env" . }}
{{- include "urltree.headers.env" .root }}
{{- $settings := include "urltree.settings.merged" . | fromJson -}}
{{- include "urltree.settings.env" (mergeOverwrite $settings (include "urltree.memory.derived" . | fromJson)) }}
{{- with .knobs.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The liveness probe does not depend on recovery: a worker may restore a large table for an hour, and a
restart would only begin again. /livez returns 503 when the process has hung for a minute. */}}
{{- define "urltree.worker.probes" -}}
startupProbe:
  httpGet: {path: /livez, port: metrics}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /livez, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* Resources, with a limit for files outside the claim: logs, /tmp, and tables without a claim.
Without the limit a pod could fill the disk of its node. */}}
{{- define "urltree.worker.resources" -}}
{{- $resources := deepCopy .stage.resources -}}
{{- if not (dig "limits" "ephemeral-storage" "" $resources) -}}
{{- $spare := 1073741824 -}}
{{- $tables := ternary 0 (include "urltree.memory.bytes" .stage.persistence.size | int64) .stage.persistence.enabled -}}
{{- $_ := set $resources "limits" (merge (default dict $resources.limits) (dict "ephemeral-storage" (add $spare $tables | toString))) -}}
{{- $_ := set $resources "requests" (merge (default dict $resources.requests) (dict "ephemeral-storage" (add 134217728 $tables | toString))) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{- define "urltree.worker.container" -}}
name: worker # alerts count the restarts of containers with this name
image: {{ include "urltree.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: [python, -m, agents]
args: [worker, {{ .name }}]
ports:
  - name: metrics
    containerPort: 8080
    protocol: TCP
env: {{- include "urltree.worker.env" . | nindent 2 }}
{{ include "urltree.worker.probes" . }}
resources: {{- include "urltree.worker.resources" . | nindent 2 }}
securityContext: {{- include "urltree.pod.containerSecurity" . | nindent 2 }}
volumeMounts: {{- include "urltree.pod.mounts" . | nindent 2 }}
{{- with .knobs.extraVolumeMounts }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
