// SPDX-License-Identifier: Apache-2.0
// Command lines as they are typed for well-known training scripts, with and without secrets. A command is cut at
// spaces; in the expected one a dot stands for what is left out.
#include "base/redact.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : line) {
    if (quote == 0 ? c == '\'' : c == quote) {
      quote = quote == 0 ? c : '\0';
    } else if (c == ' ' && quote == 0) {
      words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  words.push_back(word);
  return words;
}

const std::string kHex = "0123456789abcdef0123456789abcdef01234567";
// Built of parts: no scanner of sources shall take them for real ones.
const std::string kOpenAi = StrCat("sk", "-proj-", "Ab3dEf6hIj9lMn2pQr5tUv8x"),
                  kHf = StrCat("hf", "_", "AbCdEfGhIjKlMnOpQrStUvWxYz012345"),
                  kGit = StrCat("gh", "p_", "0123456789abcdefghijABCDEFGHIJ012345"),
                  kAws = StrCat("AK", "IA", "IOSFODNN7EXAMPLE"),
                  kJwt = StrCat("ey", "JhbGciOiJIUzI1NiJ9.ey",
                                "JzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9"),
                  kGoogle = StrCat("AI", "za", "SyA1234567890abcdefghijklmnopqrstuv"),
                  kLab = StrCat("gl", "pat-", "x1y2z3x1y2z3x1y2z3x1"),
                  kSlack = StrCat("xo", "xb-", "123456789012-abcdefABCDEF");

struct Case {
  std::string given, expected;
};

TEST(RedactCommand, LeavesOutSecrets) {
  const Case cases[] = {
      // Options of scripts.
      {"python train.py --api-key=abc123", "python train.py --api-key=#"},
      {"python train.py --api-key abc123 --lr 0.1", "python train.py --api-key # --lr 0.1"},
      {"python train.py --api_key 'with spaces' x", "python train.py --api_key # x"},
      {"python run_clm.py --token abcdefgh --model_name_or_path gpt2",
       "python run_clm.py --token # --model_name_or_path gpt2"},
      {"python run_glue.py --hub_token s3cr3t --push_to_hub", "python run_glue.py --hub_token # --push_to_hub"},
      {"python train_dreambooth.py --hub_token=abc", "python train_dreambooth.py --hub_token=#"},
      {"python x.py --hf-token abcd", "python x.py --hf-token #"},
      {"python x.py --hfToken=abcd", "python x.py --hfToken=#"},
      {"python x.py --use_auth_token abcd1234", "python x.py --use_auth_token #"},
      {"python x.py --wandb_api_key " + kHex, "python x.py --wandb_api_key #"},
      {"python x.py --wandb-key " + kHex, "python x.py --wandb-key #"},
      {"python x.py --key " + kHex, "python x.py --key #"},
      {"python x.py --password 1234", "python x.py --password #"},
      {"python x.py --db-passwd=hunter2", "python x.py --db-passwd=#"},
      {"python x.py --db.password hunter2", "python x.py --db.password #"},
      {"python x.py -password hunter2", "python x.py -password #"},
      {"python x.py --client-secret abc --secret=def", "python x.py --client-secret # --secret=#"},
      {"python x.py --aws_secret_access_key wJalr/XUt+nFE", "python x.py --aws_secret_access_key #"},
      {"python x.py --passphrase 'a b c'", "python x.py --passphrase #"},
      {"python x.py --comet_api_key abcdef --neptune-api-token ghijkl",
       "python x.py --comet_api_key # --neptune-api-token #"},
      {"python x.py --sentry-dsn https://abc@sentry.io/1", "python x.py --sentry-dsn #"},
      {"python x.py --cookie session=1", "python x.py --cookie #"},
      {"python x.py --github_pat abcdef", "python x.py --github_pat #"},
      // Hydra, and other assignments.
      {"python train.py wandb.api_key=abc model=llama", "python train.py wandb.api_key=# model=llama"},
      {"python train.py +logger.wandb.api_key=abc", "python train.py +logger.wandb.api_key=#"},
      {"python train.py ++trainer.hub_token=abc", "python train.py ++trainer.hub_token=#"},
      {"python train.py '+wandb={project:x,api_key:abcdef}'", "python train.py '+wandb={project:x,api_key:#}'"},
      {"python train.py --set '{\"api_key\": \"abc\", \"lr\": 0.1}'",
       "python train.py --set '{\"api_key\": \"#\", \"lr\": 0.1}'"},
      {"env WANDB_API_KEY=abc python train.py", "env WANDB_API_KEY=# python train.py"},
      {"env HF_TOKEN=abc HUGGING_FACE_HUB_TOKEN=def python x.py",
       "env HF_TOKEN=# HUGGING_FACE_HUB_TOKEN=# python x.py"},
      {"docker run -e OPENAI_API_KEY=abc --env=MYSQL_PWD=def image",
       "docker run -e OPENAI_API_KEY=# --env=MYSQL_PWD=# image"},
      {"env PGPASSWORD=abc AWS_SESSION_TOKEN=def REDISCLI_AUTH=ghij1234klmn5678 x",
       "env PGPASSWORD=# AWS_SESSION_TOKEN=# REDISCLI_AUTH=# x"},
      // Shells.
      {"bash -c 'export HF_TOKEN=abc; python train.py'", "bash -c 'export HF_TOKEN=#; python train.py'"},
      {"bash -c 'WANDB_API_KEY=abc python t.py --password x --lr 1'",
       "bash -c 'WANDB_API_KEY=# python t.py --password # --lr 1'"},
      {"bash -c 'python t.py --token=\"abc def\" && ls'", "bash -c 'python t.py --token=\"#\" && ls'"},
      {"python -c 'import os; os.environ[\"HF_TOKEN\"] = \"abc\"'",
       "python -c 'import os; os.environ[\"HF_TOKEN\"] = \"#\"'"},
      {"python -c 'login(token=\"" + kHf + "\")'", "python -c 'login(token=\"#\")'"},
      {"wandb login " + kHex, "wandb login #"},
      {"bash -c 'wandb login --relogin " + kHex + "; python t.py'", "bash -c 'wandb login --relogin #; python t.py'"},
      {"sshpass -p hunter2 ssh node1 python t.py", "sshpass -p # ssh node1 python t.py"},
      {"docker login -u me -p abc", "docker login -u me -p #"},
      {"mysql -h db -u root -phunter2 runs", "mysql -h db -u root -p# runs"},
      {"/usr/bin/mysqldump -uroot -p12345 runs", "/usr/bin/mysqldump -uroot -p# runs"},
      {"docker exec db mariadb-dump -u root -pS3cr:et runs", "docker exec db mariadb-dump -u root -p# runs"},
      {"sh -c 'mysqldump -u root -phunter2 runs | gzip > runs.gz'",
       "sh -c 'mysqldump -u root -p# runs | gzip > runs.gz'"},
      {"sshpass -phunter2 ssh -p 2222 node1", "sshpass -p# ssh -p 2222 node1"},
      {"bash -c 'sshpass -p hunter2 ssh -p2222 node1; redis-cli -a abc get x'",
       "bash -c 'sshpass -p # ssh -p2222 node1; redis-cli -a # get x'"},
      {"docker build --build-arg PW=29653847 .", "docker build --build-arg PW=# ."},
      {"mongosh -u admin -p hunter2", "mongosh -u admin -p #"},
      {"7z x -phunter2 data.7z", "7z x -p# data.7z"},
      {"unzip -P hunter2 data.zip", "unzip -P # data.zip"},
      {"curl -ume:abc https://host/", "curl -ume:# https://host/"},
      {"http -a me:abc host/", "http -a me:# host/"},
      {"python x.py --auth hunter2 --lr 1", "python x.py --auth # --lr 1"},
      {"python x.py --auth=me:abc", "python x.py --auth=#"},
      {"python x.py --http-auth letmein", "python x.py --http-auth #"},
      {"bash -c 'python x.py --auth hunter2'", "bash -c 'python x.py --auth #'"},
      {"docker run -e DB_PASS=hunter2 -eSMTP_PASS=abc --env RABBITMQ_DEFAULT_PASS=def image",
       "docker run -e DB_PASS=# -eSMTP_PASS=# --env RABBITMQ_DEFAULT_PASS=# image"},
      {"docker run -e MYSQL_ROOT_PASSWORD=abc -e JUPYTER_TOKEN=letmein image",
       "docker run -e MYSQL_ROOT_PASSWORD=# -e JUPYTER_TOKEN=# image"},
      {"python x.py --pass hunter2 --user-pass=abc", "python x.py --pass # --user-pass=#"},
      {"aws configure set aws_secret_access_key wJalr/XUt+nFE", "aws configure set aws_secret_access_key #"},
      {"dvc remote modify store secret_access_key abc", "dvc remote modify store secret_access_key #"},
      {"curl -u me:abc https://host/", "curl -u me:# https://host/"},
      {"curl -H 'Authorization: Bearer abc' https://host/", "curl -H 'Authorization: Bearer #' https://host/"},
      {"curl -H 'X-Api-Key: abc' -H 'Cookie: a=b; c=d' u", "curl -H 'X-Api-Key: #' -H 'Cookie: #' u"},
      // Addresses.
      {"python x.py --db postgres://me:abc@host/db", "python x.py --db postgres://me:#@host/db"},
      {"python x.py --proxy=http://me:p@ss@host:8080", "python x.py --proxy=http://me:#@host:8080"},
      {"pip install git+https://" + kGit + "@github.com/a/b", "pip install git+https://#@github.com/a/b"},
      {"python x.py --data https://host/a.zip?token=abc12345&x=1", "python x.py --data https://host/a.zip?token=#&x=1"},
      // Shapes, under names that say nothing.
      {"python x.py --opt " + kOpenAi, "python x.py --opt #"},
      {"python x.py " + kHf + " " + kGit, "python x.py # #"},
      {"python x.py --a=" + kAws + " --b=" + kGoogle, "python x.py --a=# --b=#"},
      {"python x.py x," + kLab + "," + kSlack, "python x.py x,#,#"},
      {"python x.py --a " + kJwt, "python x.py --a #"},
      // A key of Hugging Face has letters alone; a routable token of GitLab has dots.
      {StrCat("python x.py hf", "_", "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"), "python x.py #"},
      {StrCat("git clone ", "gl", "pat-", "xYzAbCdEfGhIjKlMnOpQrStUvWx.01.0x1y2z3a4"), "git clone #"},
  };
  EXPECT_GE(std::size(cases), 40U);
  for (const auto& [given, expected] : cases) {
    std::string wanted = Join(WordsOf(expected), " ");
    for (size_t at = 0; (at = wanted.find('#', at)) != std::string::npos;) wanted.replace(at, 1, kRedacted);
    const auto words = RedactCommand(WordsOf(given));
    EXPECT_EQ(Join(words, " "), wanted) << given;
    EXPECT_EQ(RedactCommand(words), words) << "twice is once";
    EXPECT_TRUE(IsRedacted(CommandText(WordsOf(given))));
  }
}

// Forms that scanners of secrets know, each with its issuer. Built of parts, as above.
TEST(RedactText, KnowsTheFormsOfManyIssuers) {
  const std::string hex = "0123456789abcdef", hex40 = kHex, mixed = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const std::string secrets[] = {
      StrCat("gl", "dt-", mixed.substr(0, 20)),               // GitLab, of a deployment
      StrCat("gl", "rt-", mixed.substr(0, 20)),               // GitLab, of a runner
      StrCat("xa", "pp-1-A01234567-0123456789-", hex),        // Slack, of an app
      StrCat("do", "o_v1_", hex40, hex, "01234567"),          // DigitalOcean
      StrCat("LT", "AI", mixed.substr(0, 20)),                // Alibaba Cloud
      StrCat("GOC", "SPX-", mixed.substr(0, 28)),             // Google, of a client
      StrCat("hv", "s.", mixed),                              // HashiCorp Vault
      StrCat("da", "pi", hex, hex),                           // Databricks
      StrCat("dp", ".pt.", mixed, "abcdefg"),                 // Doppler
      StrCat("gl", "sa_", mixed.substr(0, 32), "_01234567"),  // Grafana
      StrCat("shp", "at_", hex, hex),                         // Shopify
      StrCat("key", "-", hex, hex),                           // Mailgun
      StrCat("pu", "l-", hex40),                              // Pulumi
      StrCat("NR", "AK-", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0"),     // New Relic
      StrCat("AGE-SEC", "RET-KEY-1", std::string(58, 'Q'), "0"),
      StrCat("ntn", "_", mixed),                         // Notion
      StrCat("wandb", "_v1_", mixed),                    // Weights & Biases
      StrCat("tgp", "_v1_", mixed),                      // Together
      StrCat("lsv2", "_pt_", hex, hex, "_0123456789"),   // LangSmith
      StrCat("pcsk", "_", mixed),                        // Pinecone
      StrCat("0123456789", ":AA", mixed.substr(0, 33)),  // Telegram
  };
  for (const std::string& secret : secrets) {
    EXPECT_EQ(RedactText(StrCat("a ", secret, " b")), "a <redacted> b") << secret;
    EXPECT_EQ(RedactText(StrCat("x=", secret)), "x=<redacted>") << secret;
  }
}

TEST(RedactCommand, LeavesAllElse) {
  const char* cases[] = {
      "python train.py --num-tokens 512 --max-tokens=4096",
      "python train.py --tokenizer gpt2 --tokenizer_name=bert-base-uncased",
      "python train.py --max-token-length=5 --token-dropout 0.1",
      "python train.py --tokens-per-sample 512 --max-tokens-per-batch 4096 tokens_per_step=8",
      "python train.py --key-dim 64 --num-key-value-heads 8 --query_key_norm true",
      "python train.py --monkey x --author me --authority ca --donkey 3 --compass north",
      "python train.py --pad-token <pad> --eos_token </s> --bos-token=<s> --mask-token [MASK]",
      "python train.py --pad_token eos --unk-token unk",
      "python textual_inversion.py --placeholder_token <cat-toy> --initializer_token toy",
      "python train_custom_diffusion.py --modifier_token <new1> --class_prompt cat",
      "python train.py --instance_token sks --image-token <image> --stop-token stop",
      "python train.py --use_auth_token True --use-auth-token=false",
      "python train.py --token 5 --n_token 128 --next-token-prediction",
      "python train.py --text-key text --image_key jpg --label-key=cls --key value",
      "python train.py --sort-key length --metric_key eval_loss --primary-key id",
      "python train.py --api-key-file ~/key.txt --token-file=/run/token --password-file pw",
      "python train.py --credentials ./creds.json --api-key-env OPENAI_API_KEY",
      "python train.py --hub-token $HF_TOKEN --api-key=${KEY} password=$(cat_file)",
      "python train.py --no-auth --auth-method oauth --auth none",
      "mysqld --auth scram-sha-256 --auth=digest --use-auth true --auth 1 --auth saml",
      "docker run --name mysql -p3306:3306 -p 8080 mysql:8 --port 3306 -P 3306",
      "mysql -u root -p runs -P 3306 --protocol=tcp -p$PASS",
      "make -p4 -j8 && gcc -pthread -pipe -pg x.c && python -u x.py && mkdir -p a/b",
      "python x.py --authors me,you --author=me --oauth-app x --auth-url https://host/",
      "sshpass -e ssh -p2222 -p 2222 host",
      "bash -c 'sshpass -e ssh -p2222 host; mysql -u root -p < x.sql; mysql -p$PASS'",
      "ssh -p2222 host python x.py -p 8080 -p4 --precision 16",
      "python x.py --pass 2 --pass=1 --num-pass 3 --forward_pass 1 --skip-pass inline",
      "deepspeed --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgM119 x.py",
      "git config user.name me && conda config --set channel_priority strict",
      "python x.py --name key-value-store-2024 --run hf_bert_base_uncased_2024 --tag glrt-nightly-2",
      "python train.py --passes 3 --bypass --multi-pass 2 --forward_pass 1",
      "python train.py --hub-private-repo --secret-sharing 3 --cookiecutter x",
      "python train.py --seed 1234 --run-id 0123456789abcdef0123456789abcdef01234567",
      "git checkout 0123456789abcdef0123456789abcdef01234567",
      "torchrun --rdzv_endpoint=host:29500 --rdzv_backend c10d --nproc_per_node=8 train.py",
      "accelerate launch --config_file a.yaml --main_process_port 29501 run.py",
      "deepspeed --hostfile=h train.py --deepspeed ds.json --zero_stage 3",
      "python -m torch.distributed.run --nnodes 2 --node_rank 0 train.py --lr 6e-4",
      "python pretrain_gpt.py --tensor-model-parallel-size 8 --vocab-file v.json --merge-file m.txt",
      "python pretrain_gpt.py --tokenizer-type GPT2BPETokenizer --kv-channels 64 --data-path a_text_document",
      "python train_gpt2.py --input_bin 'dev/data/fineweb10B/*.bin' --total_batch_size 524288",
      "fairseq-train data --arch transformer --max-tokens 3584 --share-all-embeddings",
      "python main.py -a resnet50 --dist-url tcp://127.0.0.1:23456 --world-size 1 /data/imagenet",
      "python tools/train.py configs/mask_rcnn.py --cfg-options model.pretrained=None data.keys=[a,b]",
      "yolo detect train data=coco8.yaml model=yolo11n.pt epochs=100 imgsz=640",
      "python train.py trainer.max_epochs=10 model.token_mixer=attn data.tokens=512 model.key_size=64",
      "python train.py --patience 5 --pattern '.*' --patch-size 16 --path ./x --compat true",
      "python train.py --signal 2 --signature-columns a --sigma 0.5 --design v2",
      "python train.py --basic --conn-timeout 5 --connections 3",
      "python train.py --kv-cache-dtype fp8 --keyframes 10 --keypoints 17 --hotkeys x",
      "docker run -p 8080:80 --user 1000:1000 image python train.py",
      "python train.py --url https://host:8080/a@v1 --repo git@github.com:a/b ssh://git@host/x",
      "python train.py --estimator sk-learn-random-forest-classifier --name hf_transformers_run_2024_01_01",
      "python train.py --data s3://bucket/tokens/train --out gs://b/keys/k.json",
      "python -c 'print(tokenizer.pad_token); sorted(a, key=lambda x: x[1]); f(token=token, key=key)'",
      "python -c 'import os; t = os.environ[\"HF_TOKEN\"]; login(token=os.environ[\"HF_TOKEN\"])'",
      "python eval.py --tasks mmlu --gen_kwargs max_new_tokens=128,do_sample=False",
  };
  EXPECT_GE(std::size(cases), 40U);
  for (const char* line : cases) EXPECT_EQ(CommandText(WordsOf(line)), Join(WordsOf(line), " "));
}

TEST(RedactCommand, KeepsItWhereTheUserSaysSo) {
  const std::vector<std::string> command = {"python", "train.py", "--api-key=abc"};
  KeepCommands(true);
  EXPECT_EQ(RedactCommand(command), command);
  EXPECT_EQ(RedactText("--api-key=abc"), "--api-key=<redacted>") << "texts are no commands";
  KeepCommands(false);
  EXPECT_EQ(CommandText(command), "python train.py --api-key=<redacted>");
  EXPECT_TRUE(RedactCommand({}).empty());
}

TEST(RedactText, OfLogsAndJson) {
  const Case cases[] = {
      {"Password: hunter2\nlogged in", "Password: <redacted>\nlogged in"},
      {"password=hunter2, host=a", "password=<redacted> host=a"},
      {"{'api_key': 'abc', 'lr': 0.1}", "{'api_key': '<redacted>', 'lr': 0.1}"},
      {"{\\\"token\\\": \\\"abcd1234efgh\\\"}", "{\\\"token\\\": \\\"<redacted>\\\"}"},
      {"Namespace(api_key='abc', hub_token='def12345', lr=1)",
       "Namespace(api_key='<redacted>', hub_token='<redacted>', lr=1)"},
      {"> authorization: Basic bWU6YWJj\n", "> authorization: Basic <redacted>\n"},
      {"got 401 with bearer abcdefgh12345678", "got 401 with bearer <redacted>"},
      {"key -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- end", "key <redacted> end"},
      {"lost -----BEGIN PRIVATE KEY-----\nabc", "lost <redacted>"},
      {"token " + kHf + ".", "token <redacted>."},
      {"cloning https://me:abc@host/r", "cloning https://me:<redacted>@host/r"},
      {"AccountName=a;AccountKey=abc==;x", "AccountName=a;AccountKey=<redacted>;x"},
  };
  for (const auto& [given, expected] : cases) {
    EXPECT_EQ(RedactText(given), expected);
    EXPECT_EQ(RedactText(expected), expected);
  }
  for (const char* same : {"",
                           "loss per token: 2.31, tokens: 512",
                           "next token: the",
                           "KeyError: 'api_key'",
                           "KeyError: 'token'",
                           "usage: x [--api-key API_KEY] [--token TOKEN]",
                           "step 5 took 17 ms",
                           "Password: ",
                           "no password was given",
                           "expected token: ')'",
                           "special token: <pad>",
                           "pad_token: eos",
                           "eos_token=</s>",
                           "key: value",
                           "https://host:8080/x",
                           "commit 0123456789abcdef0123456789abcdef01234567",
                           "secret=<redacted>",
                           "the secret is out",
                           "author: me, authors: us",
                           "password: $DB_PASSWORD",
                           "token=args.hub_token"})
    EXPECT_EQ(RedactText(same), same);
}

TEST(RedactText, TakesWhatever) {
  for (const std::string& text :
       {std::string(100000, '"'), std::string("\xff\xfetoken=\0\xff", 10),
        StrCat("password=", std::string(100000, '\\')), StrCat("--token ", std::string(3, '\0')),
        std::string("api_key\\"), std::string("api_key=\\\"")})
    EXPECT_EQ(RedactText(RedactText(text)), RedactText(text));
}

TEST(RedactValue, OfVariables) {
  EXPECT_EQ(RedactValue("GAPLESS_HISTORY", "postgres://me:abc@host/db"), "postgres://me:<redacted>@host/db");
  EXPECT_EQ(RedactValue("SLURM_JWT", "abc"), "<redacted>");
  EXPECT_EQ(RedactValue("OMP_NUM_THREADS", "4"), "4");
  EXPECT_EQ(RedactValue("PWD", "/home/me"), "/home/me");
  EXPECT_EQ(RedactValue("TOKENIZERS_PARALLELISM", "false"), "false");
}

TEST(IsSecretName, ByItsWords) {
  for (const char* name :
       {"--api-key", "HF_TOKEN", "wandb.api_key", "apiKey", "X-Api-Key", "db_password2", "PGPASSWORD", "client_secret",
        "Authorization", "aws_secret_access_key", "access_token", "refreshToken"})
    EXPECT_TRUE(IsSecretName(name)) << name;
  for (const char* name :
       {"", "-", "--tokens", "num_tokens", "tokenizer", "pad_token_id", "key", "key_dim", "monkey", "author",
        "password_file", "api_key_env", "no_password", "TOKENIZERS_PARALLELISM", "passes", "token_dropout"})
    EXPECT_FALSE(IsSecretName(name)) << name;
}

}  // namespace
}  // namespace gapless::internal
