{{/* topics.yaml: the text of the user, or the chart's copy of the job's file (`make generate`). */}}

{{- define "urltree.topics.text" -}}
{{- default (.Files.Get "topics.yaml") .Values.topics.file -}}
{{- end -}}

{{/* The number of partitions, which is the same for all topics; `topics check` verifies that. */}}
{{- define "urltree.topics.partitions" -}}
{{- include "urltree.topics.partitionsOf" (include "urltree.topics.text" .) -}}
{{- end -}}

{{- define "urltree.topics.partitionsOf" -}}
{{- $file := fromYaml . -}}
{{- $first := first (default (list dict) $file.topics) -}}
{{- default (dig "defaults" "partitions" 0 $file) $first.partitions | int -}}
{{- end -}}

{{/* A valid Kubernetes name for a topic: Kafka allows capitals, dots and underscores, too. A changed
name ends with a hash of the topic's name, so that no two topics get the same name. */}}
{{- define "urltree.topics.resourceName" -}}
{{- $plain := . | lower | replace "_" "-" | replace "." "-" | trimAll "-" -}}
{{- if eq $plain . -}}
{{- $plain -}}
{{- else -}}
{{- printf "%s-%s" $plain (sha256sum . | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* The config of a topic, as JSON: the defaults of the file, the topic's own config, and the
min.insync.replicas that `topics.replicas` adds, like the job's setting topics_replicas. */}}
{{- define "urltree.topics.config" -}}
{{- $config := merge (deepCopy (default dict .topic.config)) (default dict .defaults.config) -}}
{{- if and (ge (int .replicas) 3) (not (hasKey $config "min.insync.replicas")) -}}
{{- $_ := set $config "min.insync.replicas" (sub (int .replicas) 1 | toString) -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}
