//! Portuguese, with or without its accents.

use super::{Forms, Head, Tongue};

pub(super) const PORTUGUESE: Tongue = Tongue {
    forms: Forms::Romance,
    head: Head::First,
    craft: "\
        refatorar, implementar, programar, codificar, depurar, debugar, portar, mockar, automatizar, \
        parametrizar, modularizar, containerizar, paginar, memoizar, mocar",
    change: "\
        adicionar, acrescentar, incluir, inclua, corrigir, corrija, corrige, arrumar, consertar, ajustar, \
        escrever, reescrever, criar, fazer, faz, faça, desenvolver, construir, construa, gerar, remover, apagar, \
        excluir, exclua, deletar, eliminar, renomear, mover, extrair, extraia, dividir, separar, substituir, \
        substitua, trocar, converter, transformar, migrar, atualizar, mudar, alterar, modificar, editar, \
        estender, expandir, introduzir, integrar, conectar, tratar, validar, armazenar, salvar, guardar, \
        habilitar, desabilitar, permitir, configurar, otimizar, melhorar, acelerar, reduzir, simplificar, \
        limpar, modernizar, formatar, resolver, colocar, usar, precisar, preciso, querer, quero, dar, montar, \
        completar, terminar, finalizar, unificar, aplicar, cobrir, reproduzir, impedir, evitar, garantir, mexer, \
        mexa, tocar, suportar, centralizar, alinhar, esconder, expor, subir, definir, inserir, insira, tipar, \
        persistir, bota, põe, ponha, quebrar, deixar, botar, precisamos, queremos, devolver, retornar, exibir, \
        carregar, ordenar, filtrar, ativar, desativar, refazer, desfazer, ligar, bloquear, proteger, exportar, \
        importar, preencher, travar, encapsular, isolar, ajeitar, melhora, aumentar, diminuir, encurtar, tirar, \
        tira, pôr, juntar, mesclar, agrupar, registrar, capturar, lançar, disponibilizar, oferecer, \
        possibilitar, acertar, refinar, aprimorar, padronizar, normalizar, sincronizar, paralelizar, adaptar, \
        estruturar, reestruturar, reorganizar, inverter, embutir, incorporar, acrescente, suporta, evite, \
        mapear, redirecionar, comprimir, sobrescrever",
    translate: "traduzir, traduz",
    leave: "\
        explicar, revisar, resumir, pesquisar, descrever, comparar, analisar, investigar, encontrar, achar, \
        listar, mostrar, dizer, diga, diz, verificar, checar, auditar, avaliar, estimar, planejar, ler, leia, \
        olhar, documentar, desenhar, projetar, recomendar, sugerir, propor, discutir, reiniciar, implantar, \
        publicar, rodar, executar, marcar, agendar, reservar, comprar, responder, enviar, preparar, monitorar, \
        instalar, iniciar, parar, abrir, fechar, transcrever, ensinar, organizar, coletar, priorizar, buscar, \
        procurar, identificar, medir, calcular, relatar, contar, conferir, diagnosticar, entender, redigir, \
        redija, elaborar, apontar",
    code: "\
        código, função, funções, método, classe, módulo, pacote, componente, biblioteca, rota, serviço, \
        servidor, banco de dados, banco, esquema, migração, consulta, índice, expressão regular, erro, falha, \
        exceção, vazamento, teste, testes, teste unitário, importação, dependência, analisador, algoritmo, \
        variável, variáveis, constante, parâmetro, campo, propriedade, lógica, validação, autenticação, \
        autorização, fila, paginação, funcionalidade, comando, aplicativo, aplicação, site, página, tela, botão, \
        botões, modo escuro, formulário, estilo, layout, configuração, conflito, jogo, programa, desempenho, \
        performance, cadastro, coluna, tabela, log, logs, interface, camada, robô, rotina, gatilho, cache, \
        busca, requisição, requisições, resposta, sessão, sessões, token, cabeçalho, filtro, evento, animação, \
        atalho, tema, carrinho, gerenciador de estado, estado, limite de requisições, chamada, retorno, \
        middleware, crawler, script, endpoint, visão, chave estrangeira, transação, ponteiro, laço, compilação, \
        correção, widget, menu, barra lateral, notificação, notificações, criptografia, sensor, firmware, \
        extensão, extensões, ícone, ícones, rodapé, alinhamento, barra de progresso, espaço em branco, fuso \
        horário, formato de data, microsserviço, microserviço, máquina de estados, estrutura de dados, conexão, \
        conexões, teste automatizado, testes automatizados, mensagem de erro, valor padrão, upload, carregador, \
        validador, importador, exportador, agendador, interpretador, compilador, laço infinito, condição de \
        corrida, consumo de memória, tempo de resposta, lentidão, chatbot, painel, tela de login, página \
        inicial, rolagem, modal, campo obrigatório, máscara, ordenação, listagem, pipeline, esteira, tipagem, \
        tipos, comentários do review, refatoração, bug, bugs, api, apis, rotas, permissão, controle de acesso, \
        hash, integração, integrações, suporte, compatibilidade, construtor, operador, linha de comando, ponto \
        de entrada, tempo de compilação, tupla, vetor",
    other: "\
        artigo, texto, redação, história, poema, carta, mensagem, relatório, resumo, documentação, documento, \
        nota, tutorial, guia, manual, proposta, plano, plano de testes, roteiro, estratégia, política, processo, \
        agenda, reunião, lista, orçamento, planilha, apresentação, logotipo, imagem, foto, diagrama, vídeo, \
        filme, contrato, descrição, currículo, pergunta, curso, aula, chamado, revisão, análise, parágrafo, \
        título, slogan, gramática, ortografia, tradução, critério, história de usuário, estimativa, lembrete, \
        viagem, comparação, pesquisa, anúncio, vaga, prova, aluno, cliente, equipe, livro, capítulo, receita, \
        convite, deploy, implantação, comunicado, explicação, ata, cronograma, férias, nome, ideia, post, carta \
        de apresentação, material, atendimento, lançamento, fatura, recibo, conta, reclamação, campanha, marca, \
        imposto, salário, festa, casamento, dieta, treino, jantar, presente, hotel, voo, passagem, contratação, \
        candidato, funcionário, investidor, pauta, ata de reunião, trabalho escolar, monografia, tese, \
        bibliografia, questionário, legenda, música, letra, frase, cardápio, commit, pull request, glossário, \
        cartaz, folheto, infográfico, mapa mental, sumário, discurso, certificado, introdução, conclusão, \
        citação, cotação, licença, calendário, colega, evento, palestra, oficina, treinamento, boletim, notas da \
        versão, página wiki, perguntas frequentes, fluxograma, organograma, esboço, persona, backlog, opinião, \
        termo, termos, fornecedor, hackathon, biografia, enquete, questões, dúvida, parecer, laudo, petição, \
        procuração, manual do usuário, relatório semanal, plano de negócios, plano de migração, plano de \
        estudos, plano de aula, cartão, logo, suporte ao cliente, suporte técnico",
    stage: "vídeo, filme, peça, podcast, episódio, palestra, discurso, evento, casamento, conferência",
    double: "programa, script",
    topic: "sobre, para, pra, acerca, como, porque",
    place: "\
        de, do, da, dos, das, em, no, na, nos, nas, num, numa, com, ao, à, aos, às, por, que, onde, quando, se, \
        sem, pelo, pela, deste, desta, neste, nesta, quem, até, entre",
    join: "e, depois, mas, então",
    lead: "\
        por, favor, pode, podes, poderia, consegue, você, vc, oi, olá, tudo, bem, me, nos, também, só, apenas, \
        somente, agora, primeiro, gostaria, ajuda, ajude, vamos, eu, que, dá, pra, mim, urgente",
    ask: "preciso, quero, precisar, querer, precisamos, queremos",
    question: "qual, quais, quem, onde, quando, por que, porquê, quanto, quantos, o que",
    deny: "não, sem, nunca, nem",
    everything: "código, nada, arquivo, arquivos, nenhum código",
    pronoun: "isso, isto, ele, ela, eles, elas, lo, la, tudo",
    wish: "deve, deveria, devem, precisa, tem que",
    story: &[("como", "quero"), ("como", "preciso"), ("como", "gostaria")],
};
