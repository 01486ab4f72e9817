# huggingface/transformers: a small LlamaForCausalLM is trained with labels and evaluated with the same batch shape.
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=64,
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    max_position_embeddings=32,
    use_cache=False,
)
model = LlamaForCausalLM(config)
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for _ in range(3):
        ids = torch.randint(0, 64, (2, 12))
        loss = compiled(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    model.eval()
    with torch.no_grad():
        ids = torch.randint(0, 64, (2, 12))
        print(epoch, compiled(input_ids=ids, labels=ids).loss.item())
