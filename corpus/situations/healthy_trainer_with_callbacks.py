# huggingface/transformers Trainer in small: arguments in a dataclass, callbacks, logging, evaluation, best checkpoint.
import copy
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class TrainingArguments:
    epochs: int = 2
    batch_size: int = 8
    accumulation: int = 2
    rate: float = 1e-2
    max_norm: float = 1.0
    logging_steps: int = 2
    compile: bool = True
    log: list = field(default_factory=list)


class Sentences(Dataset):
    def __init__(self, rows):
        self.ids = torch.randint(1, 40, (rows, 10))
        self.labels = torch.randint(0, 2, (rows,))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, place):
        return {"input_ids": self.ids[place], "labels": self.labels[place]}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12, padding_idx=0)
        self.encoder = nn.TransformerEncoderLayer(12, 2, 24, dropout=0.1, batch_first=True)
        self.head = nn.Linear(12, 2)

    def forward(self, input_ids, attention_mask=None, labels=None):
        padding = None if attention_mask is None else attention_mask == 0
        x = self.encoder(self.embed(input_ids), src_key_padding_mask=padding)
        logits = self.head(x.mean(1))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Callback:
    def on_step_end(self, trainer):
        if trainer.step % trainer.args.logging_steps == 0:
            trainer.args.log.append((trainer.step, trainer.last_loss.item(), trainer.scheduler.get_last_lr()[0]))


class Trainer:
    def __init__(self, model, args, train, evaluation, callbacks=()):
        self.model, self.args, self.callbacks = model, args, callbacks
        self.wrapped = torch.compile(model, backend="aot_eager") if args.compile else model
        self.train_loader = DataLoader(train, args.batch_size, shuffle=True)
        self.eval_loader = DataLoader(evaluation, args.batch_size)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1 / (1 + step))
        self.step, self.best, self.best_state = 0, float("inf"), None

    def train(self):
        for _ in range(self.args.epochs):
            self.wrapped.train()
            for place, batch in enumerate(self.train_loader):
                loss = self.wrapped(**batch)["loss"] / self.args.accumulation
                loss.backward()
                self.last_loss = loss.detach()
                if (place + 1) % self.args.accumulation == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_norm)
                    self.optimizer.step()
                    self.scheduler.step()
                    self.optimizer.zero_grad()
                    self.step += 1
                    for callback in self.callbacks:
                        callback.on_step_end(self)
            metrics = self.evaluate()
            if metrics["loss"] < self.best:
                self.best, self.best_state = metrics["loss"], copy.deepcopy(self.model.state_dict())
        self.model.load_state_dict(self.best_state)

    @torch.no_grad()
    def evaluate(self):
        self.wrapped.eval()
        losses = [self.wrapped(**batch)["loss"] for batch in self.eval_loader]
        return {"loss": torch.stack(losses).mean().item()}


torch.manual_seed(0)
trainer = Trainer(Classifier(), TrainingArguments(), Sentences(32), Sentences(20), [Callback()])
trainer.train()
print(trainer.evaluate())
