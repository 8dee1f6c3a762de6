{{/* The sizes of RocksDB's caches and of the trees follow from the memory limit and the number of
partitions per pod:

  limit × 0.9  ≥  96 MiB                          the interpreter and its libraries (75 to 93 MB)
                + in_flight_bytes                  records in flight
                + 8 × max_page_bytes               the largest page: its text, tree and blocks (6 ×)
                + per stage: `extract` 93 MiB with `metadata`; `fetch` 64 MiB per parser and 32 MiB
                  for responses
                + stores × (24 MiB write buffers + block_cache_bytes)
                + trees_bytes                      `extract`

A store is one partition of one table. The tables of forgotten pages are not counted, because they
stay almost empty. A tenth of the limit stays free, because the allocator does
not return all memory and trees_bytes is an estimate. Measured in docs/operations.md, "Sizes". */}}

{{/* A Kubernetes quantity such as 512Mi, 1.5Gi, 2G, 1000000k or 1073741824, in bytes. */}}
{{- define "urltree.memory.bytes" -}}
{{- $text := . | toString -}}
{{- if kindIs "float64" . }}{{ $text = int64 . | toString }}{{ end -}}
{{- $number := regexFind "^[0-9.]+" $text | float64 -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000
    "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if not (hasKey $units $unit) }}{{ fail (printf "%s is not a valid amount of memory: use a quantity such as 768Mi or 2Gi" $text) }}{{ end -}}
{{- mulf $number (get $units $unit) | int64 -}}
{{- end -}}

{{/* The smallest number of workers of a stage. */}}
{{- define "urltree.memory.workers" -}}
{{- $scaling := default dict .stage.autoscaling -}}
{{- ternary $scaling.minReplicas .stage.replicas (default false $scaling.enabled) | int -}}
{{- end -}}

{{/* The largest number of partitions per pod: all partitions divided by the number of workers that
remain when one worker is lost. */}}
{{- define "urltree.memory.partitionsAPod" -}}
{{- $left := max 1 (sub (include "urltree.memory.workers" . | int) 1) -}}
{{- $partitions := include "urltree.topics.partitions" .root | int -}}
{{- div (add $partitions $left -1) $left -}}
{{- end -}}

{{- define "urltree.memory.stores" -}}
{{- $tables := dict "poll" 2 "fetch" 3 "normalize" 1 "extract" 2 -}}
{{- mul (get $tables .name) (include "urltree.memory.partitionsAPod" . | int) -}}
{{- end -}}

{{/* Bytes that are not available to caches and trees. */}}
{{- define "urltree.memory.fixed" -}}
{{- $merged := include "urltree.settings.merged" . | fromJson -}}
{{- $mib := 1048576 -}}
{{- $fixed := mul 96 $mib -}}
{{- $fixed = add $fixed (default (mul 32 $mib) $merged.in_flight_bytes) -}}
{{- $fixed = add $fixed (mul 8 (default (mul 10 $mib) $merged.max_page_bytes)) -}}
{{- if and (eq .name "extract") $merged.metadata }}{{ $fixed = add $fixed (mul 93 $mib) }}{{ end -}}
{{- if eq .name "fetch" }}{{ $fixed = add $fixed (mul 64 $mib (default 1 $merged.parsers)) (mul 32 $mib) }}{{ end -}}
{{- add $fixed (mul 24 $mib (include "urltree.memory.stores" . | int)) -}}
{{- end -}}

{{/* The values of block_cache_bytes and trees_bytes that follow from the limit, as JSON; {} without a
limit. A value that the user sets is kept; `urltree.memory.problem` compares it with the limit.
  extract: caches get half of the remaining memory, at most 32 MiB per store; trees get the rest.
  others:  caches get at most 64 MiB per store, enough for the index and filters of 1 GB. */}}
{{- define "urltree.memory.derived" -}}
{{- $limit := dig "limits" "memory" "" .stage.resources -}}
{{- $derived := dict -}}
{{- if and $limit (ne (include "urltree.memory.stores" .) "0") -}}
{{- $merged := include "urltree.settings.merged" . | fromJson -}}
{{- $mib := 1048576 -}}
{{- $stores := include "urltree.memory.stores" . | int64 -}}
{{- $usable := div (mul (include "urltree.memory.bytes" $limit | int64) 9) 10 -}}
{{- $rest := sub $usable (include "urltree.memory.fixed" . | int64) -}}
{{- $isExtract := eq .name "extract" -}}
{{- $share := ternary (div $rest 2) $rest $isExtract -}}
{{- if and $isExtract $merged.trees_bytes }}{{ $share = sub $rest (int64 $merged.trees_bytes) }}{{ end -}}
{{- $cache := min (ternary 32 64 $isExtract) (div (div $share $stores) $mib) | mul $mib -}}
{{- $cache = int64 (default $cache $merged.block_cache_bytes) -}}
{{- $_ := set $derived "block_cache_bytes" $cache -}}
{{- if $isExtract -}}
{{- $trees := mul (div (sub $rest (mul $stores $cache)) $mib) $mib -}}
{{- $_ := set $derived "trees_bytes" (int64 (default $trees $merged.trees_bytes)) -}}
{{- end -}}
{{- end -}}
{{- toJson $derived -}}
{{- end -}}

{{/* A message if the limit is too small: a store needs 4 MiB of cache, the trees need 64 MiB. */}}
{{- define "urltree.memory.problem" -}}
{{- $derived := include "urltree.memory.derived" . | fromJson -}}
{{- if $derived -}}
{{- $mib := 1048576 -}}
{{- $merged := include "urltree.settings.merged" . | fromJson -}}
{{- $stores := include "urltree.memory.stores" . | int64 -}}
{{- $fixed := include "urltree.memory.fixed" . | int64 -}}
{{- $cache := int64 (default (mul 4 $mib) $merged.block_cache_bytes) -}}
{{- $trees := ternary (int64 (default (mul 64 $mib) $merged.trees_bytes)) 0 (eq .name "extract") -}}
{{- $needed := add $fixed (mul $stores $cache) $trees -}}
{{- $limit := .stage.resources.limits.memory -}}
{{- if gt $needed (div (mul (include "urltree.memory.bytes" $limit | int64) 9) 10) -}}
stages.{{ .name }}.resources.limits.memory is {{ $limit }}, but {{ $stores }} partitions of tables need {{ div (add (div (mul $needed 10) 9) $mib -1) $mib }}Mi: raise the limit, or run more replicas so that each has fewer partitions (docs/operations.md, "Sizes")
{{- end -}}
{{- end -}}
{{- end -}}
