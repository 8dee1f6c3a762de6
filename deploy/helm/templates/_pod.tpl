{{/* Shared parts of all pods, workers and commands. Context: root, component; stage for a worker. */}}

{{/* The options of a worker's pod, as JSON. Options of the stage override options of all pods. */}}
{{- define "urltree.pod.knobs" -}}
{{- $own := dict -}}
{{- range $name, $_ := .root.Values.pods -}}
{{- if hasKey $.stage $name }}{{ $_ := set $own $name (get $.stage $name) }}{{ end -}}
{{- end -}}
{{- toJson (mergeOverwrite (deepCopy .root.Values.pods) $own) -}}
{{- end -}}

{{/* Pod Security "restricted". The user id is that of the image. The group of the files on the disk is
changed only if it differs: to change every file of a large table would delay each start. */}}
{{- define "urltree.pod.security" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "urltree.pod.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The result begins with a newline, or is empty. */}}
{{- define "urltree.pod.scheduling" -}}
{{- $known := dict "imagePullSecrets" .root.Values.image.pullSecrets -}}
{{- range list "priorityClassName" "nodeSelector" "tolerations" "affinity" -}}
{{- $_ := set $known . (get $.knobs .) -}}
{{- end -}}
{{- range $name, $value := $known }}
{{- with $value }}
{{ toYaml (dict $name .) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Environment variables of workers and commands. Context: root, component. */}}
{{- define "urltree.pod.env" -}}
- name: URLTREE_DATA_DIR
  value: /var/lib/urltree
- name: URLTREE_TOPICS_FILE
  value: /etc/urltree/topics.yaml
{{- with .root.Values.topics.replicas }}
- name: URLTREE_TOPICS_REPLICAS
  value: {{ int . | quote }}
{{- end }}
{{- if .root.Values.credentials.secretName }}
- name: URLTREE_CREDENTIALS_DIR
  value: /etc/urltree/credentials
{{- end }}
{{ include "urltree.kafka.env" (include "urltree.kafka.login" . | fromJson) }}
{{- end -}}

{{/* Sources of the volume with secrets: of the connection to Kafka, and of the key for headers. */}}
{{- define "urltree.pod.secrets" -}}
{{- include "urltree.kafka.secrets" (include "urltree.kafka.login" . | fromJson) }}
{{- if ne .component "topics" }}{{ include "urltree.headers.secrets" .root }}{{ end }}
{{- end -}}

{{/* Only `fetch` reads the credentials of feeds and of the proxy. The other pods have the setting, too,
because they check that all settings fit together. */}}
{{- define "urltree.pod.readsCredentials" -}}
{{- if and (eq .component "fetch") .root.Values.credentials.secretName }}true{{ end -}}
{{- end -}}

{{- define "urltree.pod.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /var/lib/urltree
- name: topics
  mountPath: /etc/urltree/topics.yaml
  subPath: topics.yaml
  readOnly: true
{{- if include "urltree.pod.secrets" . | trim }}
- name: secrets
  mountPath: /etc/urltree/secrets
  readOnly: true
{{- end }}
{{- if include "urltree.pod.readsCredentials" . }}
- name: credentials
  mountPath: /etc/urltree/credentials # a directory, so that a changed Secret needs no restart
  readOnly: true
{{- end }}
{{- end -}}

{{/* All volumes except the data. Mode 0440: root owns the files, and the group of the pod reads them. */}}
{{- define "urltree.pod.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
- name: topics
  configMap:
    name: {{ .topics }}
{{- with include "urltree.pod.secrets" . | trim }}
- name: secrets
  projected:
    defaultMode: 0440
    sources: {{- . | nindent 6 }}
{{- end }}
{{- if include "urltree.pod.readsCredentials" . }}
- name: credentials
  secret:
    secretName: {{ .root.Values.credentials.secretName }}
    defaultMode: 0440
{{- end }}
{{- end -}}
