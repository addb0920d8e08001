# Completion for gapless. Written by `gapless docs`.
_gapless() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  local words='' option
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='analyze bench bisect brief compare completion convert docs doctor formats gate help history mcp monitor optimize predict profile query report run same trend trigger tune validate --help --version'
  else
    case "$verb $prev" in
      'analyze --format') words='brief html json markdown terminal' option=1 ;;
      'analyze --only') words='accumulated_exchange allocation anomaly_detection checkpoint_save cut_recording data_loading data_parallel ddp_buffers eager_attention explicit_sync exposed_communication garbage_collection gpu_foreign_process gpu_throttling gpu_unused_memory host_bound host_data_loading host_operators host_optimizer host_pauses host_python host_sleep host_straggler implicit_sync kernel_memory kernel_metrics launch_bound layout_changes lost_work low_matrix_efficiency low_occupancy memory_bound memory_growth memory_pressure needless_copies no_tensor_cores other_waste pageable_copies predicted_fix python_loop recompilation rollout run_checkpoints run_data_loading run_evaluation run_garbage run_recompilation run_side_work run_skipped_steps slow_backend small_batch small_blocks small_collectives step_growth step_variation straggler tiny_kernels too_little_work underfilled_gpu unfused_conv_bn unfused_optimizer unfused_pointwise warm_up zero_grad' option=1 ;;
      'analyze --without') words='accumulated_exchange allocation anomaly_detection checkpoint_save cut_recording data_loading data_parallel ddp_buffers eager_attention explicit_sync exposed_communication garbage_collection gpu_foreign_process gpu_throttling gpu_unused_memory host_bound host_data_loading host_operators host_optimizer host_pauses host_python host_sleep host_straggler implicit_sync kernel_memory kernel_metrics launch_bound layout_changes lost_work low_matrix_efficiency low_occupancy memory_bound memory_growth memory_pressure needless_copies no_tensor_cores other_waste pageable_copies predicted_fix python_loop recompilation rollout run_checkpoints run_data_loading run_evaluation run_garbage run_recompilation run_side_work run_skipped_steps slow_backend small_batch small_blocks small_collectives step_growth step_variation straggler tiny_kernels too_little_work underfilled_gpu unfused_conv_bn unfused_optimizer unfused_pointwise warm_up zero_grad' option=1 ;;
      'analyze --explain') words='accumulated_exchange allocation anomaly_detection checkpoint_save cut_recording data_loading data_parallel ddp_buffers eager_attention explicit_sync exposed_communication garbage_collection gpu_foreign_process gpu_throttling gpu_unused_memory host_bound host_data_loading host_operators host_optimizer host_pauses host_python host_sleep host_straggler implicit_sync kernel_memory kernel_metrics launch_bound layout_changes lost_work low_matrix_efficiency low_occupancy memory_bound memory_growth memory_pressure needless_copies no_tensor_cores other_waste pageable_copies predicted_fix python_loop recompilation rollout run_checkpoints run_data_loading run_evaluation run_garbage run_recompilation run_side_work run_skipped_steps slow_backend small_batch small_blocks small_collectives step_growth step_variation straggler tiny_kernels too_little_work underfilled_gpu unfused_conv_bn unfused_optimizer unfused_pointwise warm_up zero_grad' option=1 ;;
      'analyze --color') words='auto always never' option=1 ;;
      'compare --values') words='process iteration' option=1 ;;
      'convert --format') words='chrome' option=1 ;;
      'convert --without') words='annotations counters flows memory python' option=1 ;;
      'gate --format') words='text json markdown junit sarif github' option=1 ;;
      'optimize --allow') words='exact rounding stochastic training' option=1 ;;
      'predict --sweep') words='kernel operator thread' option=1 ;;
      'profile --python') words='sample cprofile lines memory' option=1 ;;
      'profile --with') words='nsys ncu' option=1 ;;
      'query --csv') words='spreadsheet' option=1 ;;
      'report --style') words='lab' option=1 ;;
      'same --claim') words='fp32 tf32 fp16 bf16' option=1 ;;
      'validate --allow') words='exact rounding stochastic training' option=1 ;;
    esac
    if [[ -z ${option-} ]]; then
      case $verb in
        analyze) if [[ $cur == -* ]]; then words='--output --format --only --without --explain --single --price --carbon --watts --gpus --hours --epoch-steps --width --color --verbose --rank --no-cache --all-steps --json --help'; else words=''; fi ;;
        bench) if [[ $cur == -* ]]; then words='--steps --warmup --precision --runs --scaling --inference --pattern --whole --to-the-end --timeout --step-function --pin --output --show-output --keep-command --json --help'; else words=''; fi ;;
        bisect) if [[ $cur == -* ]]; then words='--good --bad --build --share --effect --confidence --strict --runs --journal --restart --warmup --steps --pattern --higher-is-better --whole --to-the-end --timeout --step-function --pin --quiet --keep-command --json --help'; else words=''; fi ;;
        brief) if [[ $cur == -* ]]; then words='--rank --no-cache --json --help'; else words=''; fi ;;
        compare) if [[ $cur == -* ]]; then words='--pairs --budget --margin --a --b --warmup --steps --pattern --higher-is-better --metric --whole --to-the-end --timeout --step-function --pin --seed --show-output --no-same --ratios --series --column --values --threshold --strict --keep-command --json --help'; else words=''; fi ;;
        completion) if [[ $cur == -* ]]; then words='--json --help'; else words='bash zsh fish'; fi ;;
        convert) if [[ $cur == -* ]]; then words='--output --format --steps --without --rank --no-cache --json --help'; else words=''; fi ;;
        docs) if [[ $cur == -* ]]; then words='--check --json --help'; else words=''; fi ;;
        doctor) if [[ $cur == -* ]]; then words='--json --help'; else words=''; fi ;;
        formats) if [[ $cur == -* ]]; then words='--json --help'; else words=''; fi ;;
        gate) if [[ $cur == -* ]]; then words='--baseline --against --build --share --pairs --budget --threshold --gate --naive --strict --record --format --write --db --label --branch --commit --metric --column --warmup --steps --pattern --whole --timeout --step-function --pin --keep-command --json --help'; else words=''; fi ;;
        help) if [[ $cur == -* ]]; then words='--json --help'; else words='analyze bench bisect brief compare completion convert docs doctor formats gate help history mcp monitor optimize predict profile query report run same trend trigger tune validate'; fi ;;
        history) if [[ $cur == -* ]]; then words='--db --branch --commit --label --metric --column --here --since --until --limit --csv --json --help'; else words='record list export import accept'; fi ;;
        mcp) if [[ $cur == -* ]]; then words='--allow-run --json --help'; else words=''; fi ;;
        monitor) if [[ $cur == -* ]]; then words='--output --shared-folder --listen --flight-steps --light --step-function --hz --quiet --keep-command --json --help'; else words=''; fi ;;
        optimize) if [[ $cur == -* ]]; then words='--output --budget --only --without --allow --exact --grid --bottlenecks --fix --pairs --metric --margin --warmup --steps --timeout --step-function --pin --seed --keep-candidate --fresh --list --quiet --keep-command --json --help'; else words=''; fi ;;
        predict) if [[ $cur == -* ]]; then words='--what --path --sweep --measured --record --db --list --rank --all-steps --no-cache --json --help'; else words=''; fi ;;
        profile) if [[ $cur == -* ]]; then words='--output --shared-folder --steps --wait --warmup --repeat --no-shapes --no-stacks --memory --python --light --no-record --explicit-steps --with --trace --duration --cuda-memory-usage --kernel-name --launch-count --set --comprehensive --cupti --step-function --hz --quiet --keep-command --json --help'; else words=''; fi ;;
        query) if [[ $cur == -* ]]; then words='--tables --file --csv --output --rank --no-cache --json --help'; else words=''; fi ;;
        report) if [[ $cur == -* ]]; then words='--style --output --title --rank --no-cache --json --help'; else words=''; fi ;;
        run) if [[ $cur == -* ]]; then words='--recipe --only --without --fix --with-command --print --output --step-function --shared-folder --quiet --keep-command --json --help'; else words=''; fi ;;
        same) if [[ $cur == -* ]]; then words='--claim --exact --steps --recordings --a --b --timeout --step-function --pin --show-output --keep-command --json --help'; else words=''; fi ;;
        trend) if [[ $cur == -* ]]; then words='--db --branch --label --host --metric --since --until --limit --column --higher-is-better --lower-is-better --svg --html --json --help'; else words=''; fi ;;
        trigger) if [[ $cur == -* ]]; then words='--steps --memory --python --fix --unfix --stop-after --timeout --json --help'; else words=''; fi ;;
        tune) if [[ $cur == -* ]]; then words='--grid --ranks --budget --rounds --margin --warmup --steps --timeout --step-function --pin --seed --keep-command --json --help'; else words='dataloader batch scaling comm'; fi ;;
        validate) if [[ $cur == -* ]]; then words='--allow --baseline --optimized --output --db --strict --baseline-branch --threshold --commit --branch --label --no-record --pairs --budget --margin --a --b --warmup --steps --pattern --higher-is-better --metric --whole --to-the-end --timeout --step-function --pin --seed --show-output --keep-command --json --help'; else words=''; fi ;;
      esac
    fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -o bashdefault -F _gapless gapless
