{{/* topics.yaml: the chart's copy, which a test holds byte-equal to the job's, or the user's. */}}

{{- define "urltree.topics.text" -}}
{{- default (.Files.Get "topics.yaml") .Values.topics.file -}}
{{- end -}}

{{/* All topics of the job share one number of partitions; `topics check` holds the file to it. */}}
{{- define "urltree.topics.partitions" -}}
{{- include "urltree.topics.partitionsOf" (include "urltree.topics.text" .) -}}
{{- end -}}

{{- define "urltree.topics.partitionsOf" -}}
{{- $file := fromYaml . -}}
{{- $first := first (default (list dict) $file.topics) -}}
{{- default (dig "defaults" "partitions" 0 $file) $first.partitions | int -}}
{{- end -}}

{{/* A name that Kubernetes takes for a topic: Kafka allows capitals, dots and underscores. Two
topics that would share one differ by the hash of the topic's own name. */}}
{{- define "urltree.topics.resourceName" -}}
{{- $plain := . | lower | replace "_" "-" | replace "." "-" | trimAll "-" -}}
{{- if eq $plain . -}}
{{- $plain -}}
{{- else -}}
{{- printf "%s-%s" $plain (sha256sum . | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* The config of a topic, as JSON: the file's defaults, its own, and what `topics.replicas` adds:
the same that the job's setting topics_replicas does. */}}
{{- define "urltree.topics.config" -}}
{{- $config := merge (deepCopy (default dict .topic.config)) (default dict .defaults.config) -}}
{{- if and (ge (int .replicas) 3) (not (hasKey $config "min.insync.replicas")) -}}
{{- $_ := set $config "min.insync.replicas" (sub (int .replicas) 1 | toString) -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}
