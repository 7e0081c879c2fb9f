"""Fine-tunes a network in two parts: first its new head alone, then all of it. Nothing here knows of Flor:

    flor record --name finetune -- python3 examples/python/finetune.py

The shape is that of PyTorch's tutorial on transfer learning: phases, the best weights kept by deepcopy."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)


def make_data(count, classes):
    y = torch.randint(0, classes, (count,))
    x = torch.randn(count, 20) + nn.functional.one_hot(y, 20) * 1.5
    return TensorDataset(x, y)


def train_model(model, criterion, optimizer, scheduler, dataloaders, num_epochs, unfreeze_at):
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    history = []
    for epoch in range(num_epochs):
        if epoch == unfreeze_at:
            for parameter in model.body.parameters():
                parameter.requires_grad = True
            optimizer.add_param_group({"params": model.body.parameters(), "lr": 0.002})
        for phase in ["train", "val"]:
            model.train(phase == "train")
            running_loss = 0.0
            running_corrects = 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(outputs.argmax(1) == labels)
            if phase == "train":
                scheduler.step()
            epoch_loss = running_loss / len(dataloaders[phase].dataset)
            epoch_acc = running_corrects.double() / len(dataloaders[phase].dataset)
            print(f"{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}")
            if phase == "val":
                history.append(epoch_acc.item())
                if epoch_acc > best_acc:
                    best_acc = epoch_acc
                    best_model_wts = copy.deepcopy(model.state_dict())
    print(f"Best val Acc: {best_acc:4f} of {len(history)}")
    model.load_state_dict(best_model_wts)
    return model


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.body(x))


model = Model()
pretraining = DataLoader(make_data(512, 8), batch_size=64, shuffle=True)
pre = torch.optim.Adam(model.parameters(), lr=0.01)
for x, y in pretraining:
    pre.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    pre.step()

model.head = nn.Linear(64, 12)
for parameter in model.body.parameters():
    parameter.requires_grad = False
loaders = {phase: DataLoader(make_data(count, 12), batch_size=32, shuffle=phase == "train")
           for phase, count in (("train", 640), ("val", 160))}
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
model = train_model(model, nn.CrossEntropyLoss(), optimizer, scheduler, loaders, num_epochs=6, unfreeze_at=3)
