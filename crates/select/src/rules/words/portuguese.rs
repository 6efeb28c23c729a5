//! Portuguese, with or without its accents.

use super::{Forms, NounOrder, TaskLanguage};

pub(super) const PORTUGUESE: TaskLanguage = TaskLanguage {
    forms: Forms::Romance,
    head: NounOrder::First,
    craft: "\
        automatizar, codificar, containerizar, debugar, depurar, implementar, memoizar, mocar, mockar, \
        modularizar, paginar, parametrizar, portar, programar, refatorar",
    change: "\
        acelerar, acertar, acrescentar, acrescente, adaptar, adicionar, agrupar, ajeitar, ajustar, alinhar, \
        alterar, apagar, aplicar, aprimorar, armazenar, arrumar, ativar, atualizar, aumentar, bloquear, bota, \
        botar, capturar, carregar, centralizar, cobrir, colocar, completar, comprimir, conectar, configurar, \
        consertar, construa, construir, converter, corrige, corrigir, corrija, criar, dar, definir, deixar, \
        deletar, desabilitar, desativar, desenvolver, desfazer, devolver, diminuir, disponibilizar, dividir, \
        editar, eliminar, embutir, encapsular, encurtar, esconder, escrever, estender, estruturar, evitar, \
        evite, exclua, excluir, exibir, expandir, expor, exportar, extraia, extrair, faz, fazer, faça, filtrar, \
        finalizar, formatar, garantir, gerar, guardar, habilitar, impedir, importar, inclua, incluir, \
        incorporar, inserir, insira, integrar, introduzir, inverter, isolar, juntar, lançar, ligar, limpar, \
        mapear, melhora, melhorar, mesclar, mexa, mexer, migrar, modernizar, modificar, montar, mover, mudar, \
        normalizar, oferecer, ordenar, otimizar, padronizar, paralelizar, permitir, persistir, ponha, \
        possibilitar, precisamos, precisar, preciso, preencher, proteger, pôr, põe, quebrar, queremos, querer, \
        quero, redirecionar, reduzir, reescrever, reestruturar, refazer, refinar, registrar, remover, renomear, \
        reorganizar, reproduzir, resolver, retornar, salvar, separar, simplificar, sincronizar, sobrescrever, \
        subir, substitua, substituir, suporta, suportar, terminar, tipar, tira, tirar, tocar, transformar, \
        tratar, travar, trocar, unificar, usar, validar",
    translate: "traduz, traduzir",
    leave: "\
        abrir, achar, agendar, analisar, apontar, auditar, avaliar, buscar, calcular, checar, coletar, comparar, \
        comprar, conferir, contar, descrever, desenhar, diagnosticar, diga, discutir, diz, dizer, documentar, \
        elaborar, encontrar, ensinar, entender, enviar, estimar, executar, explicar, fechar, identificar, \
        implantar, iniciar, instalar, investigar, leia, ler, listar, marcar, medir, monitorar, mostrar, olhar, \
        organizar, parar, pesquisar, planejar, preparar, priorizar, procurar, projetar, propor, publicar, \
        recomendar, redigir, redija, reiniciar, relatar, reservar, responder, resumir, revisar, rodar, sugerir, \
        transcrever, verificar",
    code: "\
        agendador, algoritmo, alinhamento, analisador, animação, api, apis, aplicativo, aplicação, atalho, \
        autenticação, autorização, banco, banco de dados, barra de progresso, barra lateral, biblioteca, botão, \
        botões, bug, bugs, busca, cabeçalho, cache, cadastro, camada, campo, campo obrigatório, carregador, \
        carrinho, chamada, chatbot, chave estrangeira, classe, coluna, comando, comentários do review, \
        compatibilidade, compilador, compilação, componente, condição de corrida, conexão, conexões, \
        configuração, conflito, constante, construtor, consulta, consumo de memória, controle de acesso, \
        correção, crawler, criptografia, código, dependência, desempenho, endpoint, erro, espaço em branco, \
        esquema, estado, esteira, estilo, estrutura de dados, evento, exceção, exportador, expressão regular, \
        extensão, extensões, falha, fila, filtro, firmware, formato de data, formulário, funcionalidade, função, \
        funções, fuso horário, gatilho, gerenciador de estado, hash, importador, importação, integração, \
        integrações, interface, interpretador, jogo, layout, laço, laço infinito, lentidão, limite de \
        requisições, linha de comando, listagem, log, logs, lógica, mensagem de erro, menu, microserviço, \
        microsserviço, middleware, migração, modal, modo escuro, máquina de estados, máscara, método, módulo, \
        notificação, notificações, operador, ordenação, pacote, paginação, painel, parâmetro, performance, \
        permissão, pipeline, ponteiro, ponto de entrada, propriedade, página, página inicial, refatoração, \
        requisição, requisições, resposta, retorno, robô, rodapé, rolagem, rota, rotas, rotina, sensor, \
        servidor, serviço, sessão, sessões, site, suporte, tabela, tela, tela de login, tema, tempo de \
        compilação, tempo de resposta, teste, teste automatizado, teste unitário, testes, testes automatizados, \
        tipagem, tipos, token, transação, tupla, upload, validador, validação, valor padrão, variáveis, \
        variável, vazamento, vetor, visão, widget, ícone, ícones, índice",
    other: "\
        agenda, aluno, análise, anúncio, apresentação, artigo, ata, ata de reunião, atendimento, aula, backlog, \
        bibliografia, biografia, boletim, calendário, campanha, candidato, capítulo, cardápio, carta, carta de \
        apresentação, cartaz, cartão, casamento, certificado, chamado, citação, cliente, colega, commit, \
        comparação, comunicado, conclusão, conta, contratação, contrato, convite, cotação, critério, cronograma, \
        currículo, curso, deploy, descrição, diagrama, dieta, discurso, documentação, documento, dúvida, \
        enquete, equipe, esboço, estimativa, estratégia, explicação, fatura, festa, filme, fluxograma, folheto, \
        fornecedor, foto, frase, funcionário, férias, glossário, gramática, guia, hackathon, história, história \
        de usuário, hotel, ideia, imagem, implantação, imposto, infográfico, introdução, investidor, jantar, \
        lançamento, laudo, legenda, lembrete, letra, licença, lista, livro, logo, logotipo, manual, manual do \
        usuário, mapa mental, marca, material, mensagem, monografia, música, nome, nota, notas da versão, \
        oficina, opinião, organograma, ortografia, orçamento, palestra, parecer, parágrafo, passagem, pauta, \
        pergunta, perguntas frequentes, persona, pesquisa, petição, planilha, plano, plano de aula, plano de \
        estudos, plano de migração, plano de negócios, plano de testes, poema, política, post, presente, \
        processo, procuração, proposta, prova, pull request, página wiki, questionário, questões, receita, \
        recibo, reclamação, redação, relatório, relatório semanal, resumo, reunião, revisão, roteiro, salário, \
        slogan, sumário, suporte ao cliente, suporte técnico, termo, termos, tese, texto, trabalho escolar, \
        tradução, treinamento, treino, tutorial, título, vaga, viagem, voo, vídeo",
    stage: "casamento, conferência, discurso, episódio, evento, filme, palestra, peça, podcast, vídeo",
    double: "programa, script",
    topic: "acerca, como, para, porque, pra, sobre",
    place: "\
        ao, aos, até, com, da, das, de, desta, deste, do, dos, em, entre, na, nas, nesta, neste, no, nos, num, \
        numa, onde, pela, pelo, por, quando, que, quem, se, sem, à, às",
    join: "depois, e, então, mas",
    lead: "\
        agora, ajuda, ajude, apenas, bem, consegue, dá, eu, favor, gostaria, me, mim, nos, oi, olá, pode, \
        poderia, podes, por, pra, primeiro, que, somente, só, também, tudo, urgente, vamos, vc, você",
    ask: "precisamos, precisar, preciso, queremos, querer, quero",
    question: "o que, onde, por que, porquê, quais, qual, quando, quanto, quantos, quem",
    deny: "nem, nunca, não, sem",
    everything: "arquivo, arquivos, código, nada, nenhum código",
    pronoun: "ela, elas, ele, eles, isso, isto, la, lo, tudo",
    wish: "deve, devem, deveria, precisa, tem que",
    story: &[("como", "quero"), ("como", "preciso"), ("como", "gostaria")],
};
