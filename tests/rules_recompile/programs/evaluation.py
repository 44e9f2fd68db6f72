"""Training with gradients and evaluation without: compiled for each once."""

import torch

model = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1)))


@torch.no_grad()
def evaluate():
    model.eval()
    loss = model(torch.ones(2, 4)).sum()  # PTR222 once in inner
    model.train()
    return loss


class Head(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x)


head = Head()
head.compile()
weight = torch.ones(2, 4, requires_grad=True)


class Scaler:
    def __call__(self, loss):
        loss.backward()


def step_for(training, scaler):
    def step(net):
        if training:
            scaler(net(weight).sum())
        else:
            with torch.no_grad():
                net(weight)  # PTR222 once in forward

    return step


other = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1)), backend="eager")

line = torch.compile(torch.nn.Linear(4, 4))
line(
    torch.ones(2, 4)
).sum().backward()  # the script's own code, which knows another object by the global name


@torch.inference_mode()
def predict():
    return line(torch.ones(2, 4))  # PTR222 once in inner


def run():
    predict()
    other.train()
    other(torch.ones(2, 4))
    other.eval()
    other(torch.ones(2, 4))  # PTR222 once in inner
    train, validate = step_for(True, Scaler()), step_for(False, Scaler())
    for _epoch in range(4):
        train(head)
        validate(head)
        for _ in range(3):
            model(torch.ones(2, 4)).sum().backward()
        evaluate()
